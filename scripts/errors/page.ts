import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { exitCodes } from '../../src/cli/cli-error.ts';
import { rpcCodes } from '../../src/http/wire/json-rpc.ts';
import { type Thrown, thrownIn } from './thrown.ts';

/** Writes the page of all errors. */
export function errorsPage(root: string): string {
  const files = globSync('src/**/*.ts', { cwd: root }).filter(
    (file) => !/^src\/(ui|testing)\//.test(file),
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

Generated from the code by \`npm run errors\`. \`…\` stands for a value. Each text names the remedy. Statuses that every route can
return (401, 402, 413, 415, 429, 503) are in [the contract](contract/transports.md#errors).

## HTTP of an agent

${table(['Status', '`error`'], of('http', 'agent'))}
## HTTP of the dashboard

${table(['Status', '`error`'], of('http', 'dashboard'))}
## JSON-RPC

${table(['Code', '`message`'], rpc)}
## Texts of failed tasks

${table(['State', 'Text'], of('task'))}
## The command

Exit codes: ${Object.entries(exitCodes)
    .map(([name, code]) => `${code} ${name}`)
    .join(', ')}. With \`--json\` a failure is \`{error: {code, message, hint}}\`.

${table(['Code', 'Message'], of('command'))}
## Error classes

${table(['Class', 'Meaning'], of('class'))}`;
}

function rpcCodeOf(code: string): string {
  const name = code.replace('rpcCodes.', '') as keyof typeof rpcCodes;
  return name in rpcCodes ? String(rpcCodes[name]) : code;
}

function table([left, right]: [string, string], rows: readonly Thrown[]): string {
  const lines = rows
    .map(
      ({ code, text }) =>
        `| ${/^[-\w.]+$/.test(code) ? `\`${code}\`` : 'other'} | ${text.replaceAll('|', '\\|').replaceAll('\n', ' ')} |`,
    )
    .toSorted();
  return `| ${left} | ${right} |\n|---|---|\n${[...new Set(lines)].join('\n')}\n`;
}
