/** A string after variable expansion; `complaints` are sentences that never contain a value. */
export interface Expansion {
  text: string;
  /** The inserted values. */
  values: string[];
  complaints: string[];
}

/**
 * Replaces `${NAME}` by the environment variable and `$${` by `${` (docs/contract/configuration.md). A reference that
 * cannot be replaced is removed and reported.
 */
export function expandVariables(
  text: string,
  env: Readonly<Record<string, string | undefined>>,
): Expansion {
  const complaints: string[] = [];
  const values: string[] = [];
  const expanded = text.replace(
    /\$\$\{|\$\{(?:([A-Za-z_][A-Za-z0-9_]*)\})?/g,
    (match: string, name?: string) => {
      if (match === '$${') return '${';
      if (name === undefined) {
        complaints.push('write a variable as ${NAME}, and a literal ${ as $${');
        return '';
      }
      const value = Object.hasOwn(env, name) ? env[name] : undefined;
      if (value === undefined) {
        complaints.push(
          `the environment variable ${name} is not set; set it or write the value here`,
        );
      }
      if (value !== undefined && value !== '') values.push(value);
      return value ?? '';
    },
  );
  return { text: expanded, values, complaints };
}
