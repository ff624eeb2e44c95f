/** Name and version of each document, as its `schema` key has it. A change that breaks scripts raises the number. */
export const SCHEMA_IDS = {
  queryDevice: 'rdmatool/query-device/1',
  list: 'rdmatool/list/1',
  schema: 'rdmatool/schema/1',
  madGet: 'rdmatool/mad-get/1',
  madGetPorts: 'rdmatool/mad-get-ports/1',
  madTable: 'rdmatool/mad-table/1',
  madPing: 'rdmatool/mad-ping/1',
  madReset: 'rdmatool/mad-reset-counters/1',
  madSend: 'rdmatool/mad-send/1',
  madDecode: 'rdmatool/mad-decode/1',
} as const;
