/** What a terminal may obey: control characters, and those that turn the direction of writing. */
const ACTIVE = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const ACTIVE_BUT_LINES = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

function escaped(character: string): string {
  const code = character.charCodeAt(0).toString(16);
  return code.length > 2 ? `\\u${code.padStart(4, '0')}` : `\\x${code.padStart(2, '0')}`;
}

/** Texts from a fabric, from sysfs or from the command line, so that a terminal shows and does not obey them. */
export const harmless = (text: string): string => text.replace(ACTIVE, escaped);

/** The same of a text whose lines and tabs are meant. */
export const harmlessLines = (text: string): string => text.replace(ACTIVE_BUT_LINES, escaped);

/** JSON leaves some of these characters as they are; inside its strings they can be written as escapes. */
export const harmlessJson = (json: string): string =>
  json.replace(
    ACTIVE_BUT_LINES,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
