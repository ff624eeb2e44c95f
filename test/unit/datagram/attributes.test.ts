import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import {
  ATTRIBUTES,
  attributeOf,
  componentBits,
  type Family,
  layoutsOf,
  requiredAttribute,
} from '../../../src/datagram/attributes.ts';
import { FieldValueError, isField } from '../../../src/datagram/field.ts';
import {
  decodeMad,
  encodeMad,
  parseAttribute,
  parseFields,
  UnknownFieldError,
} from '../../../src/datagram/message.ts';
import { randomFrom } from '../layout/support.ts';

const LAYOUTS = ATTRIBUTES.flatMap((each) =>
  layoutsOf(each).map((layout, form) => [`${each.family} ${each.name} ${form || ''}`, layout] as const),
);

describe.each(LAYOUTS)('%s', (_name, layout) => {
  it('decodes random bytes to values that encode and decode to themselves', () => {
    const random = randomFrom(layout.size);
    for (let round = 0; round < 50; round++) {
      const bytes = random.bytes(layout.size);
      // Bytes that are not UTF-8 cannot come back from a text.
      for (const { codec, offset, size } of layout.members) {
        if (isField(codec) && codec.kind === 'text') bytes.fill(97 + (round % 26), offset, offset + size);
      }
      const values = layout.decode(bytes);
      expect(layout.decode(layout.encode(values))).toEqual(values);
    }
  });

  it('has a meaning for every field, and JSON that fits its schema', () => {
    for (const { codec } of layout.members) expect(codec.meaning).toMatch(/\w/);
    const check = new Ajv2020({ strict: false }).compile(layout.schema());
    const random = randomFrom(layout.size + 1);
    for (let round = 0; round < 20; round++) {
      const json = layout.toJson(layout.decode(random.bytes(layout.size)));
      expect(check(json), JSON.stringify(check.errors)).toBe(true);
    }
  });

  it('refuses one byte too few', () => {
    expect(() => layout.decode(new Uint8Array(layout.size - 1))).toThrow(`${layout.size} needed`);
  });

  it('takes the values that it shows: what is printed can be typed', () => {
    const values = layout.decode(randomFrom(layout.size + 2).bytes(layout.size));
    const json: Readonly<Record<string, unknown>> = layout.toJson(values);
    const assignments = Object.entries(json)
      .filter(([, value]) => typeof value === 'string' || typeof value === 'number')
      .filter(([name]) => {
        const codec = layout.fields[name];
        return codec && isField(codec);
      })
      .map(([name, value]) => `${name}=${value}`);
    const parsed = parseFields(layout, assignments);
    for (const [name, value] of Object.entries(parsed)) {
      expect(value).toEqual((values as Readonly<Record<string, unknown>>)[name]);
    }
  });
});

describe('the table', () => {
  it('has no two attributes of one family and number', () => {
    const keys = ATTRIBUTES.map(({ family, id }) => `${family} ${id}`);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('finds attributes by class', () => {
    expect(attributeOf(0x81, 0x11)?.name).toBe('NodeInfo');
    expect(attributeOf(0x03, 0x11)?.name).toBe('NodeRecord');
    expect(attributeOf(0x04, 0x01)?.name).toBe('ClassPortInfo');
    expect(attributeOf(0x07, 0x10)?.name).toBe('REQ');
    expect(attributeOf(0x01, 0x01)).toBeNull();
    expect(attributeOf(0x32, 0x01)).toBeNull();
  });

  it('every component is a field of its record', () => {
    for (const attribute of ATTRIBUTES) {
      for (const name of componentBits(attribute)?.keys() ?? []) {
        expect(Object.keys(attribute.layout.fields)).toContain(name);
      }
    }
  });
});

describe('a name that is no UTF-8', () => {
  const { layout } = requiredAttribute('NodeDescription', 'subnet');
  it.each([
    ['6e6f6465 c3a9', 'nodeé'],
    ['6e6f6465 e9', 'node\\xe9'],
    ['61005c62', 'a\\x00\\\\b'],
    ['1b5b324a', '\u001b[2J'],
    ['f09f98', '\\xf0\\x9f\\x98'],
    ['', ''],
  ])('%s', (hex, text) => {
    const bytes = new Uint8Array(64);
    bytes.set(Buffer.from(hex.replaceAll(' ', ''), 'hex'));
    const values = layout.decode(bytes);
    expect(values).toEqual({ node_description: text });
    expect(layout.encode(parseFields(layout, [`node_description=${text}`]))).toEqual(bytes);
  });

  it.each(['a\\', 'a\\x1', 'a\\n', '\ud800', 'x'.repeat(65)])('%j is refused', (text) => {
    expect(() => parseFields(layout, [`node_description=${text}`])).toThrow(FieldValueError);
  });
});

describe('a notice', () => {
  const mad = (mgmt_class: number, fields: Record<string, unknown>, family: Family = 'subnet'): Uint8Array =>
    encodeMad({
      header: { base_version: 1, mgmt_class, class_version: 1, method: 5, attr_id: 2 },
      attribute: requiredAttribute('Notice', family),
      fields,
    });

  it('has the details of its trap', () => {
    const [fields] = decodeMad(mad(0x01, { is_generic: 1, trap_number: 128, lid: 7 })).records;
    expect(fields).toMatchObject({ is_generic: 1, trap_number: 128, lid: 7 });
    expect(fields).not.toHaveProperty('data_details');
    const report = mad(
      0x03,
      { is_generic: 1, trap_number: 259, p_key: 0x8123, switch_lid: 9 },
      'administration',
    );
    expect(decodeMad(report).records[0]).toMatchObject({ p_key: 0x8123, switch_lid: 9 });
  });

  it('of a vendor, of a trap that is not known, or of another class keeps its bytes', () => {
    const data_details = Uint8Array.from({ length: 54 }, (_, index) => index);
    for (const [mgmtClass, fields, family] of [
      [0x01, { is_generic: 0, trap_number: 128 }, 'subnet'],
      [0x01, { is_generic: 1, trap_number: 200 }, 'subnet'],
      [0x04, { is_generic: 1, trap_number: 259 }, 'general'],
    ] as const) {
      const [values] = decodeMad(mad(mgmtClass, { ...fields, data_details }, family)).records;
      expect(values).toMatchObject({ ...fields, data_details });
    }
  });

  it('is typed with the fields of its trap, and is a generic one then', () => {
    const notice = requiredAttribute('Notice', 'subnet');
    expect(parseAttribute(notice, 1, ['trap_number=144', 'lid=3', 'change_flags=NODE_DESCRIPTION'])).toEqual({
      is_generic: 1,
      trap_number: 144,
      lid: 3,
      change_flags: 1,
    });
    expect(parseAttribute(notice, 1, ['trap_number=144', 'data_details=0102'])).not.toHaveProperty(
      'is_generic',
    );
    expect(() => parseAttribute(notice, 1, ['trap_number=128', 'm_key=3'])).toThrow(UnknownFieldError);
    expect(() => parseAttribute(notice, 1, ['lid=3'])).toThrow(UnknownFieldError);
  });
});

describe('what a person types', () => {
  const portInfo = ATTRIBUTES.find(({ name }) => name === 'PortInfo');
  const layout = portInfo?.layout ?? ATTRIBUTES[0]?.layout;
  if (!layout) throw new Error('no attributes');
  const parse = (text: string): unknown => Object.values(parseFields(layout, [text]))[0];

  it.each([
    ['lid=0x10', 16],
    ['port_state=active', 4],
    ['port_state=4', 4],
    ['link_width_enabled=1X,4X', 3],
    ['link_width_enabled=0x3', 3],
    ['m_key=0xffffffffffffffff', 0xffffffffffffffffn],
  ])('%s', (text, value) => {
    expect(parse(text)).toEqual(value);
  });

  it.each([
    ['lid=65536', /16 bits/],
    ['lid=-1', /whole number/],
    ['lid=', /whole number/],
    ['lid', /not FIELD=VALUE/],
    ['port_state=UPSIDE', /DOWN, INIT, ARMED, ACTIVE/],
    ['link_width_enabled=9X', /flag of link widths/],
  ])('%s is refused', (text, message) => {
    expect(() => parse(text)).toThrow(message);
  });

  it('a field twice, and one that is not there, are refused', () => {
    expect(() => parseFields(layout, ['lid=1', 'lid=2'])).toThrow('given twice');
    expect(() => parseFields(layout, ['lidd=1'])).toThrow(UnknownFieldError);
  });
});
