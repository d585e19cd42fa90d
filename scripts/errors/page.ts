import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { exitCodes } from '../../src/cli/cli-error.ts';
import { agentErrorCodes, type ErrorCode, errorCodes } from '../../src/http/wire/error-codes.ts';
import { rpcCodes } from '../../src/http/wire/json-rpc.ts';
import { type Thrown, thrownIn } from './thrown.ts';

/** Writes the page of all errors. */
export function errorsPage(root: string): string {
  const files = globSync(['src/**/*.ts', 'packages/client/*.ts'], { cwd: root }).filter(
    (file) => !file.startsWith('src/ui/'),
  );
  const thrown = files
    .toSorted()
    .flatMap((file) => thrownIn(readFileSync(join(root, file), 'utf8'), file));
  const of = (kind: Thrown['kind']): Thrown[] => thrown.filter((one) => one.kind === kind);
  const rpc = of('rpc').map((one) => ({ ...one, code: rpcCodeOf(one.code) }));
  return `# Errors

Reference. For readers of an error: find the meaning of its code or class. \`npm run errors\` generates this page from
the code; \`…\` is a value. Every route can also return [401, 402, 413, 415, 429 and 503](contract/transports.md#errors).

## HTTP of an agent

The body of an error is \`{error, code, …}\`. Compare \`code\`, which is stable and has one status; \`error\` is for people, with the details.

${problems(agentErrorCodes)}
## HTTP of the dashboard

It also returns the codes of its agents.

${problems(dashboardCodes)}
## JSON-RPC

${groups(rpc)}
## Messages of failed tasks

${groups(of('task'))}
## The command

Exit codes: ${Object.entries(exitCodes)
    .map(([name, code]) => `${code} ${name}`)
    .join(', ')}. With \`--json\` a failure is \`{error: {code, message, hint}}\`.

${groups(of('command'))}
## Error classes

${classes(of('class'))}`;
}

function rpcCodeOf(code: string): string {
  const name = code.replace('rpcCodes.', '') as keyof typeof rpcCodes;
  return name in rpcCodes ? String(rpcCodes[name]) : code;
}

const dashboardCodes = (Object.keys(errorCodes) as ErrorCode[]).filter(
  (code) => !(agentErrorCodes as ErrorCode[]).includes(code),
);

/** Lists each code of a surface with its status and its meaning. */
function problems(codes: readonly ErrorCode[]): string {
  const lines = codes.toSorted().map((code) => {
    const [status, meaning] = errorCodes[code];
    return `\`${code}\` (${status}): ${meaning}\n`;
  });
  return lines.join('\n');
}

function items(rows: readonly Thrown[]): string {
  const texts = rows.map(({ text }) => `- ${text.replaceAll('\n', ' ')}`);
  return [...new Set(texts)].toSorted().join('\n');
}

/** Lists the messages of each code under that code. */
function groups(rows: readonly Thrown[]): string {
  const byCode = Map.groupBy(rows, ({ code }) =>
    /^[-\w.]+$/.test(code) ? `\`${code}\`` : 'other',
  );
  const lists = [...byCode].map(([code, group]) => {
    return `${code}:\n\n${items(group)}\n`;
  });
  return lists.toSorted().join('\n');
}

function classes(rows: readonly Thrown[]): string {
  const lines = rows.map(({ code, text }) => `- \`${code}\`: ${firstSentence(text)}\n`);
  return [...new Set(lines)].toSorted().join('');
}

/** What a class means; further sentences are rules for authors of its messages. */
function firstSentence(text: string): string {
  const [first = ''] = text.replaceAll('\n', ' ').split(/; the message|(?<=[a-z)\]])\. (?=[A-Z])/);
  return `${first.replace(/\.$/, '')}.`;
}
