import * as factOf from './fact-of.ts';
import * as failureOf from './failure-of.ts';
import { fromContext, fromOutput, fromTime, withOutput, withReason } from './params-from.ts';
import * as recordOf from './record-of.ts';
import type { MintOutcome, RecordedStart, TaskEvent, ToolOutcome } from './task-events.ts';
import { currentCall, type TaskContext } from './task-input.ts';

type In<Type extends TaskEvent['type']> = {
  context: TaskContext;
  event: Extract<TaskEvent, { type: Type }>;
};

/** A call that has started is cut off. */
export const whenCutOff = {
  canceled: [
    {
      type: 'note',
      params: ({ context, event }: In<'task.cancel'>) =>
        factOf.toolCutOff(context, event.at, `canceled: ${event.reason}`),
    },
    withReason('callOff'),
  ],
  restarted: [
    fromTime('note', (context, at) => factOf.toolCutOff(context, at, failureOf.interrupted.text)),
    { type: 'fail', params: failureOf.interrupted },
  ],
} as const;

const keptRecord = fromOutput('keepRecord', recordOf.credentials);
const made = [fromOutput('note', factOf.credentialMade), keptRecord] as const;

const failedFor = fromOutput('fail', (context, outcome: MintOutcome) =>
  failureOf.ofMint(currentCall(context), outcome),
);

/** The credentials of a call were to be made. */
export const whenMinted = { failed: [...made, failedFor], issued: made } as const;

/** They were to be made again, for a call that a restart repeats. */
export const whenMintedAgain = {
  failed: [
    fromOutput('note', (context, outcome: MintOutcome) => [
      factOf.credentialMade(context, outcome),
      factOf.toolCutOff(context, outcome.at, failureOf.ofMint(currentCall(context), outcome).text),
    ]),
    keptRecord,
    failedFor,
  ],
  issued: made,
} as const;

const outcomeUnknown = (context: TaskContext) => failureOf.outcomeUnknown(currentCall(context));

/** The start of a call is on disk, or was when the task was restored. */
export const whenStarted = {
  unknown: [
    fromOutput('note', (context, { at }: RecordedStart) =>
      factOf.toolCutOff(context, at, outcomeUnknown(context).text),
    ),
    fromContext('fail', outcomeUnknown),
  ],
  known: withOutput('keepStart'),
} as const;

const ended = [
  fromOutput('note', factOf.toolEnded),
  fromOutput('keepRecord', recordOf.output),
] as const;

/** The tool has run. */
export const whenRun = {
  failed: [
    ...ended,
    fromOutput('fail', (context, outcome: ToolOutcome) =>
      failureOf.ofTool(currentCall(context), outcome),
    ),
  ],
  returned: [...ended, withOutput('keepResult')],
} as const;
