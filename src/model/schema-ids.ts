/** Name and version of each document, as its `schema` key has it. A change that breaks scripts raises the number. */
export const SCHEMA_IDS = {
  queryDevice: 'rdmatool/query-device/1',
  list: 'rdmatool/list/1',
  labStatus: 'rdmatool/lab-status/1',
  schema: 'rdmatool/schema/1',
  cmCreateId: 'rdmatool/cm-create-id/1',
  cmBind: 'rdmatool/cm-bind/1',
  cmResolve: 'rdmatool/cm-resolve/1',
  cmConnect: 'rdmatool/cm-connect/1',
  cmListen: 'rdmatool/cm-listen/1',
  cmInitQpAttr: 'rdmatool/cm-init-qp-attr/1',
  cmGetaddrinfo: 'rdmatool/cm-getaddrinfo/1',
} as const;
