/** The flags that control output, including the output of errors about other arguments. */
export interface Flags {
  isJson: boolean;
  isDebug: boolean;
  mayColour: boolean;
  /** True if the first line of stdin is the passphrase of the secrets. */
  isPassphraseOnStdin: boolean;
}

/** Reads the global flags at any position before a `--`. */
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
