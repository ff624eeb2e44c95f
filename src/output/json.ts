/** One JSON document, indented, with a newline at its end. */
export const jsonDocument = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;
