import { TaskRun } from '../../helpers/run-task.ts';
import {
  aCall,
  aDeferRule,
  aFollowUp,
  anAttempt,
  minted,
  returned,
  said,
  saved,
  toolRules,
} from '../../helpers/task-fixtures.ts';

const second = aCall({ id: 'call-2', tool: 'look_up' });

/** Starts a task whose first call is held and whose model asked for two calls. */
async function held(): Promise<TaskRun> {
  const rules = toolRules({ defer: aDeferRule({ quorum: 2 }), credential: 'static' });
  const run = new TaskRun({ rulesFor: () => rules });
  await run.finish('think', said('Let me see.', [aCall(), second]));
  return run;
}

async function halfApproved(): Promise<TaskRun> {
  const run = await held();
  await run.decide(anAttempt());
  return run;
}

async function minting(): Promise<TaskRun> {
  const run = await halfApproved();
  await run.decide(anAttempt({ approver: 'Bob', email: 'bob@x.org' }));
  return run;
}

async function starting(): Promise<TaskRun> {
  const run = await minting();
  await run.finish('mint', minted(null));
  return run;
}

/** The states in which a daemon can leave a task, each reached anew. */
export const recordedStates = {
  thinking: async () => new TaskRun(),
  held,
  'told meanwhile': async () => {
    const run = await held();
    run.send({ type: 'message.received', ...aFollowUp('any news?'), refusal: null, sender: null });
    return run;
  },
  'half approved': halfApproved,
  minting,
  starting,
  running: async () => {
    const run = await starting();
    run.send(saved());
    return run;
  },
  recording: async () => {
    const run = await starting();
    run.send(saved());
    await run.finish('runTool', returned('refunded'));
    return run;
  },
} as const;
