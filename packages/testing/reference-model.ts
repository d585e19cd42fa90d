import type { JsonObject } from '../../src/machines/json.ts';
import type {
  ModelAnswer,
  ModelCommand,
  ModelRules,
  ModelTask,
  ReferenceModel,
} from './model-command.ts';

const noTask: ModelAnswer = { status: 200, state: null };

/** Computes a command's effect and answer from the rules of the contract, independently of the daemon's code. */
export function step(model: ReferenceModel, command: ModelCommand): [ReferenceModel, ModelAnswer] {
  const { rules, tasks } = model;
  if (!('id' in command)) {
    const now = model.now + (command.type === 'pass' ? command.milliseconds : 0);
    const isGivenUp = command.type === 'restart' && rules.onRestart === 'abandon';
    const ended = [...tasks].map(([id, task]): [string, ModelTask] => {
      if (isGivenUp && task.state === 'deferred') return [id, { ...task, state: 'failed' }];
      return [id, timedOut(rules, task, now)];
    });
    return [{ rules, now, tasks: new Map(ended) }, noTask];
  }
  const task = tasks.get(command.id);
  const [status, next = task] = outcome(model, task, command);
  if (next === undefined) return [model, { status, state: null }];
  const changed = new Map([...tasks, [command.id, next]]);
  return [
    { ...model, tasks: changed },
    { status, state: next.state },
  ];
}

type Outcome = [status: number, task?: ModelTask];

function outcome(
  model: ReferenceModel,
  task: ModelTask | undefined,
  command: Extract<ModelCommand, { id: string }>,
): Outcome {
  const waits = task?.state === 'deferred';
  if (command.type === 'send') {
    if (waits) return [409];
    const { ran = 0, isDecided = false, askers = [] } = task ?? {};
    const run = { ran, isDecided, askers: [...askers, command.by], calls: command.calls };
    return [200, goOn(model, run)];
  }
  if (command.type === 'decide') return decided(model, task, command);
  if (task === undefined) return [404];
  return command.type === 'cancel' && waits ? [200, { ...task, state: 'canceled' }] : [200];
}

function decided(
  model: ReferenceModel,
  task: ModelTask | undefined,
  { decision, by, email, note = '', args }: Extract<ModelCommand, { type: 'decide' }>,
): Outcome {
  const { approvers, fourEyes, bindApprover, onReject, requireReason, edit } = model.rules;
  if (decision !== 'approve' && decision !== 'reject') return [400];
  if (task?.state !== 'deferred') return [task?.isDecided === true ? 409 : 404];
  const counted = bindApprover ? by : email;
  const isForeign = bindApprover && (by === null || (email !== null && email !== by));
  const isListed = approvers === null || (counted !== null && approvers.includes(counted));
  const name = counted ?? 'unknown';
  const asked = [...task.askers, ...task.editors].some(
    (one) => one !== null && (one === by || one === name),
  );
  if (isForeign || !isListed || (fourEyes && asked)) return [403];
  const isNoteNeeded = requireReason === 'both' || requireReason === decision;
  if (isNoteNeeded && note.trim() === '') return [400];
  if (args !== undefined && (decision === 'reject' || edit !== true)) return [400];
  const calls = task.calls - 1;
  if (decision === 'reject' && onReject === 'fail')
    return [200, { ...task, state: 'failed', isDecided: true }];
  if (decision === 'reject') return [200, goOn(model, { ...task, calls, isDecided: true })];
  const isEdit = args !== undefined && JSON.stringify(args) !== JSON.stringify(task.args);
  return approved(
    model,
    isEdit ? edited(task, args, [by, name]) : task,
    { by, email: counted },
    isEdit,
  );
}

/** Only the approval of the person who saw the changed arguments may count, and with four eyes another one must. */
function edited(task: ModelTask, args: JsonObject, by: (string | null)[]): ModelTask {
  return { ...task, args, approvals: [], editors: [...task.editors, ...by] };
}

function approved(
  model: ReferenceModel,
  task: ModelTask,
  { by, email }: ModelTask['approvals'][number],
  isEdit: boolean,
): Outcome {
  const { quorum, fourEyes } = model.rules;
  const isCounted =
    (isEdit && fourEyes) ||
    task.approvals.some((one) => one.email === email || (by !== null && one.by === by));
  const approvals = isCounted ? task.approvals : [...task.approvals, { by, email }];
  if (approvals.length < quorum) return [200, { ...task, approvals }];
  const calls = task.calls - 1;
  return [200, goOn(model, { ...task, calls, ran: task.ran + 1, isDecided: true })];
}

/** Ends every wait whose time is over. The next call of the run begins to wait when the one before it has ended. */
function timedOut(rules: ModelRules, task: ModelTask, now: number): ModelTask {
  if (task.state !== 'deferred' || task.expiresAt > now) return task;
  if (rules.onTimeout !== 'tool_result') return { ...task, state: 'failed' };
  const next = goOn({ rules, now: task.expiresAt }, { ...task, calls: task.calls - 1 });
  return timedOut(rules, next, now);
}

/** The next call is held with a deferral of its own, or the task ends. */
function goOn(
  { now, rules }: Pick<ReferenceModel, 'now' | 'rules'>,
  run: Pick<ModelTask, 'askers' | 'calls' | 'ran' | 'isDecided'>,
): ModelTask {
  const wait = { ...run, approvals: [], args: {}, editors: [], expiresAt: now + rules.timeout };
  if (run.calls === 0) return { ...wait, state: 'completed' };
  return { ...wait, state: 'deferred', isDecided: false };
}
