/** Fields as people read them. */
import { expect, it } from 'vitest';
import { fieldRows } from '../../../src/views/mad-fields.ts';

/** IBTA volume 1, 16.1.3.5: PortXmitData and PortRcvData are octets divided by 4. */
it.each([
  ['PortCounters', 'port_xmit_data', 250, '250 (words of 4 bytes) = 1000 bytes'],
  [
    'PortCountersExtended',
    'port_rcv_data',
    '18446744073709551615',
    '18446744073709551615 (words of 4 bytes) = 73786976294838206460 bytes',
  ],
  ['PortCounters', 'port_xmit_packets', 250, '250'],
])('%s %s', (attribute, name, value, text) => {
  expect(fieldRows(attribute, { [name]: value })).toEqual([[name, text]]);
});
