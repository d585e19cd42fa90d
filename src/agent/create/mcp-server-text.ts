import { isSecretName } from '../../actors/tools/tools.ts';
import { refusedSecretName } from '../../machines/secret-name.ts';

/** The connection settings of an MCP server as the user typed them. */
export interface McpServerText {
  name: string;
  url?: string;
  headers: Readonly<Record<string, string>>;
  command?: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
}

/** A server's entry for `service.yaml`, and the secrets that the entry references as variables. */
export interface WithheldServer {
  server: Readonly<Record<string, unknown>>;
  secrets: Readonly<Record<string, string>>;
}

/** Prefixes of the keys of well-known services, and the format of a JWT. */
const knownSecret =
  /^(?:sk-|rk_|sk_|ghp_|gho_|ghs_|github_pat_|glpat-|xox[abprs]-|AKIA|hf_|npm_|AIza|eyJ[\w-]+\.)[\w.-]{8,}/;

/** Matches a header value that consists of a scheme and a secret. */
const scheme = /^(Bearer|Basic|Token|ApiKey)\s+(\S.*)$/i;

/** Replaces apparent secrets in a server's entry with variable references. */
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
  /** Moves a secret into a variable; leaves other values unchanged. */
  const withheld = (label: string, at: string, value: string): string =>
    looksLikeSecret(label, value) ? keep(at, value) : literal(value);
  /** Keeps a variable's own name, unless that name controls how programs run. */
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

  /** The option's name is either in the same word as its value or in the word before it. */
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

/** Returns a warning about a server whose program is downloaded at each start; `null` for another one. */
export function registryWarning({ command = '' }: Pick<McpServerText, 'command'>): string | null {
  return /(^|\/)(npx|uvx|bunx|pnpx)$/.test(command)
    ? `${command} asks a registry at each start, which egress.allowed_domains has to list; install the package in the agent's folder instead`
    : null;
}

/** Returns whether a setting appears to be a secret, by its label or its value, and names no variable. */
export function looksLikeSecret(label: string, value: string): boolean {
  return !namesVariable(value) && (isSecretName(label) || knownSecret.test(value)) && value !== '';
}

function filled(key: string, values: object): object {
  return Object.keys(values).length === 0 ? {} : { [key]: values };
}

function namesVariable(value: string): boolean {
  return /(?<!\$)\$\{[A-Za-z_]\w*\}/.test(value);
}

/** Escapes a literal `${` as `$${`; variable references stay unchanged. */
function literal(value: string): string {
  return namesVariable(value) ? value : value.replaceAll('${', () => '$${');
}
