/** One JSON document, indented, with a newline at its end. */
export const jsonDocument = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;

/** One object of a stream, on one line. */
export const jsonLine = (value: object): string => `${JSON.stringify(value)}\n`;
