import * as factOf from './fact-of.ts';
import * as failureOf from './failure-of.ts';
import {
  fromContext,
  fromOutput,
  fromTime,
  type On,
  withOutput,
  withReason,
  withTime,
} from './params-from.ts';
import * as recordOf from './record-of.ts';
import type { MintOutcome, ToolOutcome } from './task-events.ts';
import { currentCall, type TaskContext } from './task-input.ts';

/** The task is ended from outside; a started call is cut off. */
export const whenCutOff = {
  canceled: [
    {
      type: 'note',
      params: ({ context, event }: On<'task.cancel'>) =>
        factOf.toolCutOff(context, event.at, `canceled: ${event.reason}`),
    },
    withReason('callOff'),
  ],
  restarted: [
    fromTime('note', (context, at) => factOf.toolCutOff(context, at, failureOf.interrupted.text)),
    { type: 'fail', params: failureOf.interrupted },
  ],
  outOfTime: [
    fromTime('note', (context, at) =>
      factOf.toolCutOff(context, at, failureOf.outOfTime(context).text),
    ),
    fromContext('fail', failureOf.outOfTime),
  ],
} as const;

const keptRecord = fromOutput('keepRecord', recordOf.credentials);

const notMinted = (context: TaskContext, outcome: MintOutcome) =>
  failureOf.ofMint(currentCall(context), outcome);

/** The result of issuing a call's credentials. A call repeated by a restart had started before. */
export const whenMinted = {
  failed: [
    fromOutput('note', (context, outcome: MintOutcome) => [
      factOf.credentialMade(context, outcome),
      ...factOf.toolCutOff(context, outcome.at, notMinted(context, outcome).text),
    ]),
    keptRecord,
    fromOutput('fail', notMinted),
  ],
  issued: [fromOutput('note', factOf.credentialMade), keptRecord, withOutput('spendTime')],
} as const;

const outcomeUnknown = (context: TaskContext) => failureOf.outcomeUnknown(currentCall(context));

/**
 * A call starts: its start is reported and then committed to disk, or was already on disk when the task was restored.
 */
export const whenStarted = {
  reported: [fromContext('note', factOf.toolStarted), { type: 'keepStart', params: 0 }],
  unknown: [
    fromTime('note', (context, at) => factOf.toolCutOff(context, at, outcomeUnknown(context).text)),
    fromContext('fail', outcomeUnknown),
  ],
  known: withTime('keepStart'),
} as const;

const ended = fromOutput('note', factOf.toolEnded);

/** The tool has finished. */
export const whenRun = {
  failed: [
    ended,
    withOutput('keepOutcome'),
    fromOutput('fail', (context, outcome: ToolOutcome) =>
      failureOf.ofTool(currentCall(context), outcome),
    ),
  ],
  failedForModel: [ended, withOutput('keepResult')],
  returned: [ended, withOutput('keepResult')],
  /** The result of the last call is the answer of a run without a model. */
  answered: [ended, withOutput('keepResult'), 'answerWithResult'],
} as const;
