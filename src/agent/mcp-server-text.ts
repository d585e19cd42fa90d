import { isSecretName } from '../actors/tools/tools.ts';
import { refusedSecretName } from '../machines/secret-name.ts';

/** How an MCP server is reached, as it was typed. */
export interface McpServerText {
  name: string;
  url?: string;
  headers: Readonly<Record<string, string>>;
  command?: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
}

/** The entry of a server for `service.yaml`, and the secrets that it names as variables. */
export interface WithheldServer {
  server: Readonly<Record<string, unknown>>;
  secrets: Readonly<Record<string, string>>;
}

/** How keys of well-known services begin, and a signed token. */
const knownSecret =
  /^(?:sk-|rk_|sk_|ghp_|gho_|ghs_|github_pat_|glpat-|xox[abprs]-|AKIA|hf_|npm_|AIza|eyJ[\w-]+\.)[\w.-]{8,}/;

/** A header whose value is a scheme and a secret. */
const scheme = /^(Bearer|Basic|Token|ApiKey)\s+(\S.*)$/i;

/** Takes what looks like a secret out of the entry of a server, and names a variable in its place. */
export function withoutSecrets(text: McpServerText): WithheldServer {
  const { name, url, headers, command, args, env } = text;
  const secrets: Record<string, string> = {};
  const variable = (label: string): string =>
    `${name}_${label}`
      .toUpperCase()
      .replaceAll(/[^A-Z0-9]+/g, '_')
      .replaceAll(/^_+|_+$/g, '');
  const keep = (at: string, value: string): string => {
    secrets[at] = value;
    return `\${${at}}`;
  };
  /** A secret is kept under a variable; anything else is written as it is. */
  const withheld = (label: string, at: string, value: string): string =>
    !namesVariable(value) && (isSecretName(label) || knownSecret.test(value)) && value !== ''
      ? keep(at, value)
      : literal(value);
  /** A variable keeps its own name, unless that is one which steers how programs run. */
  const variableOf = (label: string): string =>
    refusedSecretName(label.toUpperCase()) === null ? label.toUpperCase() : variable(label);
  const header = ([label, value]: [string, string]): [string, string] => {
    const [, word, rest] = (isSecretName(label) && scheme.exec(value)) || [];
    const isSigned = word !== undefined && rest !== undefined && !namesVariable(rest);
    return [
      label,
      isSigned
        ? `${word} ${keep(variable('token'), rest)}`
        : withheld(label, variable(label), value),
    ];
  };
  const server = {
    name,
    ...(url === undefined
      ? {}
      : {
          url: url.replaceAll(
            /([?&])([^=&#]+)=([^&#]*)/g,
            (_, mark: string, label: string, value: string) =>
              `${mark}${label}=${withheld(label, variable(label), value)}`,
          ),
        }),
    ...filled('headers', Object.fromEntries(Object.entries(headers).map(header))),
    ...(command === undefined ? {} : { command: literal(command) }),
    ...(args.length === 0 ? {} : { args: args.map((arg, index) => argument(arg, index)) }),
    ...filled(
      'env',
      Object.fromEntries(
        Object.entries(env).map(([label, value]) => [
          label,
          withheld(label, variableOf(label), value),
        ]),
      ),
    ),
  };
  return { server, secrets };

  /** An option says what it is, in one word with its value or before it. */
  function argument(arg: string, index: number): string {
    const [, option, value] = /^(--?[\w-]+)=(.*)$/s.exec(arg) ?? [];
    if (option !== undefined && value !== undefined) {
      return `${option}=${withheld(option, variable(option), value)}`;
    }
    const [, before = 'secret'] = /^--?([\w-]+)$/.exec(args[index - 1] ?? '') ?? [];
    const isOption = arg.startsWith('-');
    const label = isOption || before === 'secret' ? '' : before;
    return withheld(label, variable(before), arg);
  }
}

function filled(key: string, values: object): object {
  return Object.keys(values).length === 0 ? {} : { [key]: values };
}

function namesVariable(value: string): boolean {
  return /(?<!\$)\$\{[A-Za-z_]\w*\}/.test(value);
}

/** Writes a literal `${` as `$${`; a variable that is named stays one. */
function literal(value: string): string {
  return namesVariable(value) ? value : value.replaceAll('${', () => '$${');
}
