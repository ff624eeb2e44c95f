import { ATTRIBUTES, type Attribute, attributeOf, familyOf } from '../datagram/attributes.ts';
import { FieldValueError } from '../datagram/field.ts';
import { unknownAttribute, usageFailure } from './failures.ts';

/** An attribute of a class by its name there, or by number; its layout is null where it is not known. Throws Failure. */
export function findAttribute(mgmtClass: number, text: string): { id: number; attribute: Attribute | null } {
  if (/^(\d+|0x[0-9a-f]+)$/i.test(text)) {
    const id = Number(text);
    if (id > 0xffff) {
      throw usageFailure(new FieldValueError(`${text} is no attribute number: they have 16 bits`));
    }
    return { id, attribute: attributeOf(mgmtClass, id) };
  }
  const family = familyOf(mgmtClass);
  const known = ATTRIBUTES.filter(
    ({ family: own }) => own === family || (own === 'general' && family !== 'subnet'),
  );
  const attribute = known.find(({ name }) => name.toLowerCase() === text.toLowerCase());
  if (!attribute) throw unknownAttribute(text, known);
  return { id: attribute.id, attribute };
}
