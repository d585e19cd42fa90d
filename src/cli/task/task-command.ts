import { Command } from 'commander';
import { countValue, jsonListValue, jsonValue } from '../option-values.ts';
import type { Session } from '../session.ts';
import { withAgentOptions } from '../with-agent-options.ts';
import type { AgentOptions } from './agent-session.ts';
import type { CancelOptions } from './task-cancel.ts';
import type { DecideOptions } from './task-decide.ts';
import type { GetOptions } from './task-get.ts';
import type { ListOptions } from './task-list.ts';
import type { SendOptions } from './task-send.ts';

/** Defines the commands that send requests to a running agent. */
export function taskCommand(session: Session): Command {
  const task = new Command('task').description('send, watch and decide on the tasks of an agent');
  const commands = [
    sendCommand(session),
    getCommand(session),
    inspectCommand(session),
    listCommand(session),
    watchCommand(session),
    cancelCommand(session),
    deferralsCommand(session),
    decideCommand(session, 'approve'),
    decideCommand(session, 'reject'),
  ];
  for (const command of commands) task.addCommand(withAgentOptions(command));
  return task;
}

function sendCommand(session: Session): Command {
  return new Command('send')
    .description('start a task and wait for its answer, through holds')
    .argument('[text...]', 'message; - reads it from stdin')
    .option('--id <id>', 'the id of the task (default: a new one)')
    .option('--data <json>', 'add a part with data', jsonValue)
    .option('--script <json>', 'add a script for the scripted model to play', jsonListValue)
    .option('--stream', 'stream events; disconnecting abandons a waiting call')
    .action(async (words: string[], options: SendOptions) => {
      const { taskSend } = await import('./task-send.ts');
      await taskSend(session, words, options);
    });
}

function getCommand(session: Session): Command {
  return new Command('get')
    .description('show a task')
    .argument('<id>', 'the id of the task')
    .option('--states', 'show the states of its chart with time, duration and cause')
    .action(async (id: string, options: GetOptions) => {
      const { taskGet } = await import('./task-get.ts');
      await taskGet(session, id, options);
    });
}

function inspectCommand(session: Session): Command {
  return new Command('inspect')
    .description(
      'print the path of a task for the viewer of Stately, redacted; needs run --inspect',
    )
    .argument('<id>', 'the id of the task')
    .action(async (id: string, options: AgentOptions) => {
      const { taskInspect } = await import('./task-inspect.ts');
      await taskInspect(session, id, options);
    });
}

function listCommand(session: Session): Command {
  return new Command('list')
    .description('list tasks, newest first')
    .option('--state <state>', 'only tasks in this state, such as deferred')
    .option('--limit <count>', 'how many to show', countValue)
    .option('--cursor <cursor>', 'continue an earlier list')
    .action(async (options: ListOptions) => {
      const { taskList } = await import('./task-list.ts');
      await taskList(session, options);
    });
}

function watchCommand(session: Session): Command {
  return new Command('watch')
    .description('follow a task until it ends')
    .argument('<id>', 'the id of the task')
    .action(async (id: string, options: AgentOptions) => {
      const { taskWatch } = await import('./task-watch.ts');
      await taskWatch(session, id, options);
    });
}

function cancelCommand(session: Session): Command {
  return new Command('cancel')
    .description('call a task off')
    .argument('<id>', 'the id of the task')
    .option('--reason <reason>', 'why (default: external_signal)')
    .action(async (id: string, options: CancelOptions) => {
      const { taskCancel } = await import('./task-cancel.ts');
      await taskCancel(session, id, options);
    });
}

function deferralsCommand(session: Session): Command {
  return new Command('deferrals')
    .description('list the tool calls that wait for a person, oldest first')
    .action(async (options: AgentOptions) => {
      const { taskDeferrals } = await import('./task-deferrals.ts');
      await taskDeferrals(session, options);
    });
}

function decideCommand(session: Session, decision: 'approve' | 'reject'): Command {
  const effect =
    decision === 'approve' ? 'let the call of a task run' : 'refuse the call of a task';
  const command = new Command(decision)
    .description(`${effect} that waits for a person`)
    .argument('<id>', 'the id of the task')
    .option('--approver <name>', 'approver (default: your login name)')
    .option('--email <email>', 'email address of the approver, for calls with an allowlist')
    .option('--note <text>', 'why')
    .option('--deferral <id>', 'decide only if this deferral is pending')
    .option('--args-sha256 <hash>', 'decide only if the call has this args_sha256');
  if (decision === 'approve') {
    command
      .option('--args <json|file>', 'run the call with these arguments, if its rule allows it')
      .option(
        '--remember <scope>',
        'release later calls as well: those of the task, or of the caller',
      )
      .option('--for <duration>', 'how long --remember lasts (default: 1h)')
      .option('--uses <n>', 'how many calls --remember releases (default: 5)', countValue)
      .option('--when <condition>', 'the calls that --remember releases (default: equal ones)');
  }
  return command.action(async (id: string, options: DecideOptions) => {
    const { taskDecide } = await import('./task-decide.ts');
    await taskDecide(session, { id, decision }, options);
  });
}
