/** The flags that decide how anything is said, a complaint about the other arguments included. */
export interface Flags {
  isJson: boolean;
  isDebug: boolean;
  mayColour: boolean;
  /** True when the first line of stdin is the passphrase of the secrets. */
  isPassphraseOnStdin: boolean;
}

/** Reads the flags that hold for every command, wherever they stand before a `--`. */
export function readFlags(argv: readonly string[]): Flags {
  const end = argv.indexOf('--');
  const given = new Set(end === -1 ? argv : argv.slice(0, end));
  return {
    isJson: given.has('--json'),
    isDebug: given.has('--debug'),
    mayColour: !given.has('--no-color'),
    isPassphraseOnStdin: given.has('--passphrase-stdin'),
  };
}
