/** A key that others may know and this version does not. */
export interface AbsentKey {
  /** Its path, in dots. */
  key: string;
  what: string;
  /** What becomes of a file that has it. */
  outcome: string;
  /** A file that has it. */
  file: string;
}

const ignored = 'warned of and ignored';

/** Keys of later versions, with what this one makes of them. */
export const absentKeys: readonly AbsentKey[] = [
  {
    key: 'store.url_env',
    what: 'Variable with the address of a database server; `store.kind: postgres` is refused.',
    outcome: ignored,
    file: 'agent_id: a\nstore: {url_env: SERVICE_DATABASE_URL}\n',
  },
];
