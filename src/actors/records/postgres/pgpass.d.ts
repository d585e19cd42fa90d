declare module 'pgpass' {
  /** Looks up a password in the file of `PGPASSFILE` or in `~/.pgpass`; `undefined` if there is none. */
  export default function pgpass(
    connection: object,
    found: (password: string | undefined) => void,
  ): void;
}
