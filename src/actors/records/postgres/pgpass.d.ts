declare module 'pgpass' {
  /** Looks a password up in the file that `PGPASSFILE` names, or in `~/.pgpass`; `undefined` when there is none. */
  export default function pgpass(
    connection: object,
    found: (password: string | undefined) => void,
  ): void;
}
