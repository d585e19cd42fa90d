import { Delegating, PeopleDirectory } from '../../src/actors/people/people.ts';
import { randomIds } from '../../src/actors/random-ids.ts';
import { systemClock } from '../../src/actors/system-clock.ts';
import type { AppPorts } from '../../src/http/app.ts';

/** A door that lets everybody in: no limit that tests reach, no admission, no pages from elsewhere. */
export const openDoor = {
  limits: {
    readRps: 1_000_000,
    readBurst: 1_000_000,
    writeRps: 1_000_000,
    writeBurst: 1_000_000,
    cancelExempt: true,
    trustedProxies: [],
  },
  origins: [],
  publicUrl: '',
  writeTimeout: 0,
  holdHeartbeat: 25_000,
  taskAccess: 'org',
  a2aHold: false,
  a2aAnswer: 'artifact',
  gate: null,
  admission: null,
  mcp: null,
  schemaOf: () => null,
  card: { current: () => null },
  record: () => Promise.resolve(),
  receipts: { issue: async () => ({ kind: 'unsigned' as const }) },
  delegating: new Delegating({
    rows: { all: async () => [], put: async () => undefined, delete: async () => false },
    ...{ directory: new PeopleDirectory(), clock: systemClock(), ids: randomIds() },
    record: async () => undefined,
  }),
  reloadPolicy: async () => ({ problems: ['none'] }),
  authLog: { letIn() {}, letInToRead() {}, refused() {} },
  entity: {},
} satisfies Partial<AppPorts>;
