import { describe, expect, it } from 'vitest';
import { attributeOf, componentBits, requiredAttribute } from '../../../src/datagram/attributes.ts';
import { Method, MgmtClass } from '../../../src/datagram/classes.ts';
import { decodeMad, encodeMad, type FieldValues, type Mad } from '../../../src/datagram/message.ts';
import { Failure } from '../../../src/explain/failure.ts';
import { answerTo } from '../../../src/mad/answer.ts';
import { parseAnswers } from '../../../src/mad/answer-file.ts';
import { pingRule, registrationsFor } from '../../../src/mad/serve.ts';

const rules = (...answers: readonly object[]) => parseAnswers(JSON.stringify({ answers }), 'a.json');

interface Asked {
  readonly cls: Parameters<typeof MgmtClass.valueOf>[0] | number;
  readonly method?: Parameters<typeof Method.valueOf>[0];
  readonly id: number;
  readonly mod?: number;
  readonly oui?: number;
  /** Of a record of subnet administration: their components are chosen. */
  readonly fields?: FieldValues;
}

function request({ cls, method = 'Get', id, mod = 0, oui, fields = {} }: Asked): Mad {
  const mgmtClass = typeof cls === 'number' ? cls : MgmtClass.valueOf(cls);
  const attribute = attributeOf(mgmtClass, id);
  const bits = attribute && componentBits(attribute);
  const mask = Object.keys(fields).reduce((sum, name) => sum | (bits?.get(name) ?? 0n), 0n);
  return decodeMad(
    encodeMad({
      header: {
        base_version: 1,
        mgmt_class: mgmtClass,
        class_version: mgmtClass === 3 ? 2 : 1,
        method: Method.valueOf(method),
        tid: 0x0123456789abcdefn,
        attr_id: id,
        attr_mod: mod,
      },
      sections: { vendor: { oui: oui ?? 0 }, sa: { component_mask: mask, sm_key: 9n } },
      ...(bits ? { attribute, fields } : {}),
    }),
  );
}

const PORT_COUNTERS = { class: 'PERF', attribute: 'PortCounters' };
const COUNTERS = { cls: 'PERF', id: 0x12 } as const;
const NODE_RECORD = { class: 'SUBN_ADM', attribute: 'NodeRecord' };

describe('a file of answers', () => {
  it('answers with the first that fits by class, attribute, modifier and method', () => {
    const file = rules(
      { ...PORT_COUNTERS, modifier: 7, fields: { symbol_error_counter: 7 } },
      { ...PORT_COUNTERS, method: 'Set', fields: { symbol_error_counter: 8 } },
      { ...PORT_COUNTERS, fields: { symbol_error_counter: 9 } },
    );
    const counterOf = (asked: Asked) => {
      const answer = answerTo(request(asked), file);
      const mad = decodeMad(answer?.mad ?? new Uint8Array());
      expect([mad.header.method, mad.header.tid, mad.status]).toEqual([0x81, 0x0123456789abcdefn, 0]);
      return mad.records[0]?.['symbol_error_counter'];
    };
    expect(counterOf({ ...COUNTERS, mod: 7 })).toBe(7);
    expect(counterOf({ ...COUNTERS, method: 'Set' })).toBe(8);
    expect(counterOf(COUNTERS)).toBe(9);
  });

  it('refuses what is not in it as the kernel does, with the data of the request', () => {
    const answer = answerTo(request({ cls: 'PERF', id: 0x1d }), rules(PORT_COUNTERS));
    expect([answer?.status, answer?.mad.length]).toEqual([0x000c, 256]);
    expect(answerTo(request({ cls: 'BM', id: 0x12 }), rules(PORT_COUNTERS))).toBeNull();
    expect(answerTo(request({ cls: 'PERF', method: 'Send', id: 0x12 }), rules(PORT_COUNTERS))).toBeNull();
    expect(answerTo(request({ cls: 'PERF', method: 'GetResp', id: 0x12 }), rules(PORT_COUNTERS))).toBeNull();
  });

  it('gives a status', () => {
    const answer = answerTo(request(COUNTERS), rules({ ...PORT_COUNTERS, status: '0x001c' }));
    expect(decodeMad(answer?.mad ?? new Uint8Array()).status).toBe(0x1c);
  });

  it('gives all records to GetTable, in segments', () => {
    const file = rules({ ...NODE_RECORD, records: [{ lid: 1 }, { lid: 2 }], repeat: 50 });
    const all = answerTo(request({ cls: 'SUBN_ADM', method: 'GetTable', id: 0x11 }), file);
    // A NodeRecord has 108 bytes and lies at multiples of 8; the data begins at byte 56.
    expect([all?.rmpp, all?.mad.length, all?.mad[3]]).toEqual([true, 56 + 100 * 112, 0x92]);
    const bytes = all?.mad ?? new Uint8Array();
    expect([...bytes.subarray(24, 27)]).toEqual([1, 1, 1]);
    expect(new DataView(bytes.buffer, bytes.byteOffset).getUint16(44)).toBe(112 / 8);
    const { records, sections } = decodeMad(bytes);
    expect(records.map((record) => record['lid'])).toEqual(
      Array.from({ length: 100 }, (_, i) => 1 + (i % 2)),
    );
    // A key is not sent back.
    expect(sections.find(({ name }) => name === 'sa')?.values['sm_key']).toBe(0n);
  });

  describe('of records', () => {
    const NODES = [
      { lid: 1, node_type: 1, num_ports: 1, node_description: 'one' },
      { lid: 2, node_type: 2, num_ports: 4, node_description: 'two' },
      { lid: 3, node_type: 1, num_ports: 2, node_description: 'three' },
    ];
    const NODE = { cls: 'SUBN_ADM', id: 0x11 } as const;
    const PATH = { cls: 'SUBN_ADM', id: 0x35 } as const;
    const nodes = rules({ ...NODE_RECORD, records: NODES });
    const table = (asked: Asked, file = nodes) => {
      const answer = answerTo(request({ ...asked, method: 'GetTable' }), file);
      expect([answer?.status, answer?.rmpp]).toEqual([0, true]);
      return decodeMad(answer?.mad ?? new Uint8Array()).records;
    };
    const lids = (asked: Asked) => table(asked).map(({ lid }) => lid);

    it('gives those to GetTable that the component mask chooses', () => {
      expect(lids(NODE)).toEqual([1, 2, 3]);
      expect(lids({ ...NODE, fields: { node_type: 1 } })).toEqual([1, 3]);
      expect(lids({ ...NODE, fields: { node_type: 1, num_ports: 2 } })).toEqual([3]);
      expect(lids({ ...NODE, fields: { node_description: 'two' } })).toEqual([2]);
      // As an SA does: a table may be empty.
      expect(lids({ ...NODE, fields: { lid: 9 } })).toEqual([]);
    });

    it('gives one to Get, and says where there is none, or more than one', () => {
      const get = (fields: FieldValues) => answerTo(request({ ...NODE, fields }), nodes);
      const one = get({ lid: 2 });
      expect([one?.status, one?.rmpp, one?.mad.length, one?.mad[3]]).toEqual([0, false, 256, 0x81]);
      expect(decodeMad(one?.mad ?? new Uint8Array()).records).toMatchObject([{ lid: 2, num_ports: 4 }]);
      // ERR_NO_RECORDS and ERR_TOO_MANY_RECORDS, IBTA 15.4.4.
      expect(get({ lid: 9 })?.status).toBe(0x0300);
      expect(get({ node_type: 1 })?.status).toBe(0x0400);
      expect(get({})?.status).toBe(0x0400);
      expect(answerTo(request(NODE), rules({ ...NODE_RECORD, records: [] }))?.status).toBe(0x0300);
    });

    it('takes num_path for a limit, and passes over what a selector means', () => {
      const file = rules({
        class: 'SUBN_ADM',
        attribute: 'PathRecord',
        records: [1, 2, 3].map((dlid) => ({ dlid, slid: 9, mtu: 5 })),
      });
      const paths = (fields: FieldValues) => table({ ...PATH, fields }, file).map(({ dlid }) => dlid);
      expect(paths({ slid: 9, num_path: 2 })).toEqual([1, 2]);
      expect(paths({ dlid: 3, num_path: 2 })).toEqual([3]);
      // GREATER is 0, EXACTLY 2.
      expect(paths({ mtu_selector: 0, mtu: 1 })).toEqual([1, 2, 3]);
      expect(paths({ mtu_selector: 2, mtu: 1 })).toEqual([]);
      expect(paths({ mtu_selector: 2, mtu: 5 })).toEqual([1, 2, 3]);
      expect(answerTo(request({ ...PATH, fields: { slid: 9, num_path: 1 } }), file)?.status).toBe(0);
    });
  });

  it('takes values as mad get shows them', () => {
    const [rule] = rules({
      class: 'SUBN_ADM',
      attribute: 'NodeRecord',
      fields: { node_type: { value: 2, name: 'SWITCH' }, node_guid: '0002:c903:0000:1234', lid: '0x10' },
    });
    const layout = requiredAttribute('NodeRecord', 'administration').layout;
    expect(layout.toJson(layout.decode(rule?.data ?? new Uint8Array()))).toMatchObject({
      node_type: { name: 'SWITCH' },
      node_guid: '0002:c903:0000:1234',
      lid: 16,
    });
  });

  it('asks for one agent a class, with the methods that it answers', () => {
    const file = rules(
      { ...PORT_COUNTERS, method: 'Get' },
      { class: 'PERF', attribute: 'any', method: 'Set', data: '00' },
      { ...NODE_RECORD, records: [] },
      { class: 0x40, attribute: 1, data: 'ff', oui: 0x123456 },
    );
    expect(registrationsFor(file)).toMatchObject([
      { mgmtClass: 4, version: 1, oui: null, methods: 0b110n, rmpp: 0 },
      { mgmtClass: 3, version: 2, oui: null, rmpp: 1 },
      { mgmtClass: 0x40, version: 1, oui: 0x123456, rmpp: 1 },
    ]);
  });

  it.each<[string, string, RegExp]>([
    ['nothing', '', /JSON/],
    ['an array', '[]', /"answers"/],
    ['another key', '{"answers":[],"x":1}', /"answers"/],
    ['no answer', '{"answers":[]}', /no answer/],
    ['no object', '{"answers":[3]}', /answer 1 is not an object/],
    ['an unknown key', '{"answers":[{"clas":1}]}', /answer 1: there is no key "clas".*class/],
    ['no class', '{"answers":[{"attribute":1}]}', /"class" is missing/],
    ['an unknown class', '{"answers":[{"class":"PREF","attribute":1}]}', /"class".*PERF/],
    ['too large a class', '{"answers":[{"class":256,"attribute":1}]}', /8 bits/],
    ['the directed class', '{"answers":[{"class":129,"attribute":1}]}', /by itself/],
    ['no attribute', '{"answers":[{"class":4}]}', /"attribute" is missing/],
    [
      'an unknown attribute',
      '{"answers":[{"class":4,"attribute":"PortCountrs"}]}',
      /no attribute PortCountrs/,
    ],
    ['a response', '{"answers":[{"class":4,"attribute":18,"method":"GetResp"}]}', /"method"/],
    ['two kinds of data', '{"answers":[{"class":4,"attribute":18,"data":"00","fields":{}}]}', /one of them/],
    ['an unknown field', '{"answers":[{"class":4,"attribute":18,"fields":{"nosuch":1}}]}', /nosuch/],
    [
      'a value that does not fit',
      '{"answers":[{"class":4,"attribute":18,"fields":{"port_select":256}}]}',
      /port_select/,
    ],
    ['a fraction', '{"answers":[{"class":4,"attribute":18,"modifier":1.5}]}', /"modifier"/],
    [
      'fields of an unknown attribute',
      '{"answers":[{"class":9,"attribute":1,"fields":{"a":1}}]}',
      /give "data"/,
    ],
    ['records of no record', '{"answers":[{"class":4,"attribute":18,"records":[{}]}]}', /no record/],
    ['too much', '{"answers":[{"class":3,"attribute":17,"records":[{}],"repeat":16777215}]}', /more than/],
    ['odd digits', '{"answers":[{"class":4,"attribute":18,"data":"abc"}]}', /hexadecimal/],
  ])('with %s is refused', (_what, text, message) => {
    const refused = (): unknown => parseAnswers(text, 'a.json');
    expect(refused).toThrow(Failure);
    expect(refused).toThrow(message);
    expect(refused).toThrow(/^a\.json: /);
  });
});

describe('a ping', () => {
  it('is answered with a name, to its class and vendor alone', () => {
    const answer = answerTo(request({ cls: 0x32, id: 0, oui: 0x001405 }), [pingRule()]);
    expect(answer?.status).toBe(0);
    const { data } = decodeMad(answer?.mad ?? new Uint8Array());
    expect(Buffer.from(data).toString('latin1')).toMatch(/^[^\0]+\.[^\0]+\0/);
    expect(answerTo(request({ cls: 0x32, id: 0, oui: 0x001406 }), [pingRule()])?.status).toBe(0x000c);
  });
});
