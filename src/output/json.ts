import { harmlessJson } from './harmless.ts';

/** One JSON document, indented, with a newline at its end. */
export const jsonDocument = (value: object): string => `${harmlessJson(JSON.stringify(value, null, 2))}\n`;

/** One JSON document on one line, as streams have them. */
export const jsonLine = (value: object): string => `${harmlessJson(JSON.stringify(value))}\n`;
