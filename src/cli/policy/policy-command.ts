import { Command } from 'commander';
import { countValue, jsonValue, momentValue, usedValue } from '../option-values.ts';
import type { Session } from '../session.ts';
import type { PolicyDiffOptions } from './policy-diff.ts';
import type { ExplainOptions } from './policy-explain.ts';
import type { SuggestOptions } from './policy-suggest.ts';
import type { PolicyTestOptions } from './policy-test.ts';

type TaskOptions = { task?: string; call?: string };

export function policyCommand(session: Session): Command {
  const policy = new Command('policy').description('inspect the policy of an agent');
  policy
    .command('explain')
    .description('evaluate a call now, layer by layer; nothing runs and no one is notified')
    .argument('[tool]', 'tool name; omit with --task')
    .option('--task <id>', 'the recorded calls of this task; the agent must be running')
    .option('--call <id>', 'one of them')
    .option('--args <json>', 'the arguments of the call', jsonValue, {})
    .option('--at <time>', 'the time of the call (default: now)', momentValue)
    .option('--caller <email|json>', 'the caller, as in a row of policy.test.yaml')
    .option('--history <json>', 'the earlier calls of the session, as in such a row', jsonValue)
    .option('--acr <acr>', 'the assurance level the caller has signed in with')
    .option('--message <text>', 'the request of the caller; intent alignment needs it')
    .option('--cwd <dir>', 'the folder in which the call works')
    .option('--client <name>', 'the coding agent whose hook asks, such as codex')
    .option('--used <limit=amount>', 'what is used of a limit; repeatable', usedValue, {})
    .option('--dir <dir>', "the agent's folder", '.')
    .action(
      async (tool: string | undefined, options: ExplainOptions & TaskOptions, command: Command) => {
        const { task } = options;
        if ((tool === undefined) === (task === undefined)) {
          return command.error('error: name a tool, or a task with --task, and not both');
        }
        if (task !== undefined) {
          const { explainTask } = await import('./explain-task.ts');
          return explainTask(session, { ...options, task });
        }
        const { policyExplain } = await import('./policy-explain.ts');
        await policyExplain(session, tool ?? '', options);
      },
    );
  policy
    .command('test')
    .description('evaluate tables of calls and compare the decisions; exit 5 if a row fails')
    .argument('[file...]', 'tables (default: policy.test.yaml in the folder)')
    .option('--coverage', 'list the rules that no row reaches')
    .option('--dir <dir>', "the agent's folder", '.')
    .action(async (files: string[], options: PolicyTestOptions) => {
      const { policyTest } = await import('./policy-test.ts');
      await policyTest(session, files, options);
    });
  policy
    .command('preview')
    .description('evaluate the last 100 calls under a changed service.yaml; nothing runs')
    .argument('<file>', 'the changed service.yaml')
    .option('--dir <dir>', "the agent's folder; the agent must be running", '.')
    .action(async (file: string, options: { dir: string }) => {
      const { previewPolicy } = await import('./explain-task.ts');
      await previewPolicy(session, file, options);
    });
  policy
    .command('suggest')
    .description('suggest conditions for calls that people always approved; changes nothing')
    .argument('[tool]', 'the name of a tool (default: all)')
    .option(
      '--from <time>',
      'the start of the log to read, such as 7d or 2026-11-01T00:00:00Z',
      '30d',
    )
    .option(
      '--least <count>',
      'minimum of approved calls that a condition must cover',
      countValue,
      5,
    )
    .option('-o, --output <file>', 'write service.yaml with the best condition of the tool')
    .option('--dir <dir>', "the agent's folder", '.')
    .action(async (tool: string | undefined, options: SuggestOptions) => {
      const { policySuggest } = await import('./policy-suggest.ts');
      await policySuggest(session, tool, options);
    });
  policy
    .command('diff')
    .description('list what changes between two policies; exit 5 if a rule is or may be looser')
    .argument('<before>', 'a service.yaml, a folder, or the digest of a stored policy')
    .argument('<after>', 'another one')
    .option('--log', 'compare the last 100 calls as well; the agent must be running')
    .option('--table <file>', 'compare the rows of a table of policy tests as well')
    .option('--dir <dir>', "the agent's folder", '.')
    .action(async (before: string, after: string, options: PolicyDiffOptions) => {
      const { policyDiff } = await import('./policy-diff.ts');
      await policyDiff(session, [before, after], options);
    });
  policy
    .command('reload')
    .description('apply the policy files to the running agent')
    .option('--dir <dir>', "the agent's folder", '.')
    .action(async (options: { dir: string }) => {
      const { policyReload } = await import('./policy-reload.ts');
      await policyReload(session, options);
    });
  return policy;
}
