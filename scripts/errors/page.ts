import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { exitCodes } from '../../src/cli/cli-error.ts';
import { rpcCodes } from '../../src/http/wire/json-rpc.ts';
import { type Thrown, thrownIn } from './thrown.ts';

/** Writes the page of all errors. */
export function errorsPage(root: string): string {
  const files = globSync(['src/**/*.ts', 'packages/client/*.ts'], { cwd: root }).filter(
    (file) => !file.startsWith('src/ui/'),
  );
  const thrown = files.toSorted().flatMap((file) => {
    const surface = file.startsWith('src/dashboard/') ? 'dashboard' : 'agent';
    return thrownIn(readFileSync(join(root, file), 'utf8'), file).map((one) => ({
      ...one,
      surface,
    }));
  });
  const of = (kind: Thrown['kind'], surface?: string): Thrown[] =>
    thrown.filter((one) => one.kind === kind && (surface === undefined || one.surface === surface));
  const rpc = of('rpc').map((one) => ({ ...one, code: rpcCodeOf(one.code) }));
  return `# Errors

Reference. For readers of an error message: find the status, code or class that it belongs to. \`npm run errors\` generates this page from
the code; \`…\` is a value. Every route can also return [401, 402, 413, 415, 429 and 503](contract/transports.md#errors).

## HTTP of an agent

By status, the \`error\` of the body:

${groups(of('http', 'agent'))}
## HTTP of the dashboard

${groups(of('http', 'dashboard'))}
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

/** Lists the messages of each code under that code. */
function groups(rows: readonly Thrown[]): string {
  const byCode = Map.groupBy(rows, ({ code }) =>
    /^[-\w.]+$/.test(code) ? `\`${code}\`` : 'other',
  );
  const lists = [...byCode].map(([code, group]) => {
    const items = new Set(group.map(({ text }) => `- ${text.replaceAll('\n', ' ')}`));
    return `${code}:\n\n${[...items].toSorted().join('\n')}\n`;
  });
  return lists.toSorted().join('\n');
}

function classes(rows: readonly Thrown[]): string {
  const items = rows.map(({ code, text }) => `- \`${code}\`: ${firstSentence(text)}\n`);
  return [...new Set(items)].toSorted().join('');
}

/** What a class means; further sentences are rules for authors of its messages. */
function firstSentence(text: string): string {
  const [first = ''] = text.replaceAll('\n', ' ').split(/; the message|(?<=[a-z)\]])\. (?=[A-Z])/);
  return `${first.replace(/\.$/, '')}.`;
}
