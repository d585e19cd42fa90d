import type { Drawing } from './drawing.ts';

const step = [116, 46] as const;
const end: [number, number] = [100, 34];

/** The task: work on the left, the wait for a person on the right, the three ends below. */
export const taskDrawing: Drawing = {
  size: { width: 756, height: 374 },
  places: {
    submitted: { at: [12, 48], size: [88, 46] },
    working: { at: [128, 12], size: [344, 232] },
    'working.thinking': { at: [144, 48], size: [...step] },
    'working.governing': { at: [344, 48], size: [112, 46] },
    'working.executing': { at: [144, 140], size: [312, 90] },
    'working.executing.minting': { at: [156, 170], size: [88, 46], name: 'credentials' },
    'working.executing.calling': { at: [260, 170], size: [80, 46], name: 'running' },
    'working.executing.recording': { at: [356, 170], size: [88, 46] },
    deferred: { at: [570, 12], size: [174, 232] },
    'deferred.asked': { at: [584, 48], size: [140, 46] },
    'deferred.reminded': { at: [584, 116], size: [140, 42] },
    'deferred.escalated': { at: [584, 180], size: [140, 42] },
    completed: { at: [118, 302], size: end },
    failed: { at: [296, 302], size: end },
    canceled: { at: [466, 302], size: end },
  },
  lines: [
    {
      from: 'submitted',
      to: 'working',
      points: [
        [100, 71],
        [144, 71],
      ],
    },
    {
      from: 'working.thinking',
      to: 'working.governing',
      label: 'wants a tool',
      points: [
        [260, 71],
        [344, 71],
      ],
      labelAt: [302, 63],
    },
    {
      from: 'working.governing',
      to: 'deferred',
      label: 'needs approval',
      points: [
        [456, 62],
        [584, 62],
      ],
      labelAt: [513, 55],
    },
    {
      from: 'working.governing',
      to: 'working.executing',
      label: 'allowed',
      points: [
        [358, 94],
        [358, 140],
      ],
      labelAt: [351, 121],
      anchor: 'end',
    },
    {
      from: 'working.governing',
      to: 'working.executing.recording',
      points: [
        [440, 94],
        [440, 170],
      ],
    },
    {
      from: 'working.executing.minting',
      to: 'working.executing.calling',
      points: [
        [244, 193],
        [260, 193],
      ],
    },
    {
      from: 'working.executing.calling',
      to: 'working.executing.recording',
      points: [
        [340, 193],
        [356, 193],
      ],
    },
    {
      from: 'working.executing',
      to: 'working.thinking',
      label: 'next turn',
      points: [
        [202, 140],
        [202, 94],
      ],
      labelAt: [209, 121],
      anchor: 'start',
    },
    {
      from: 'working.executing',
      to: 'working.governing',
      label: 'next call',
      points: [
        [380, 140],
        [380, 94],
      ],
      labelAt: [387, 121],
      anchor: 'start',
    },
    {
      from: 'deferred',
      to: 'working.governing',
      label: 'approved',
      points: [
        [570, 84],
        [456, 84],
      ],
      labelAt: [513, 98],
    },
    {
      from: 'deferred',
      to: 'working.executing.recording',
      label: 'rejected, told',
      points: [
        [570, 206],
        [444, 206],
      ],
      labelAt: [521, 220],
    },
    {
      from: 'deferred.asked',
      to: 'deferred.reminded',
      points: [
        [654, 94],
        [654, 116],
      ],
    },
    {
      from: 'deferred.reminded',
      to: 'deferred.escalated',
      points: [
        [654, 158],
        [654, 180],
      ],
    },
    {
      from: 'deferred.asked',
      to: 'deferred.escalated',
      points: [
        [724, 82],
        [735, 82],
        [735, 201],
        [724, 201],
      ],
    },
    {
      from: 'working.thinking',
      to: 'completed',
      label: 'answered',
      points: [
        [168, 244],
        [168, 302],
      ],
      labelAt: [175, 266],
      anchor: 'start',
    },
    {
      from: 'working',
      to: 'failed',
      label: 'denied, failed',
      points: [
        [332, 244],
        [332, 302],
      ],
      labelAt: [325, 266],
      anchor: 'end',
    },
    {
      from: 'working',
      to: 'canceled',
      label: 'canceled',
      points: [
        [420, 244],
        [420, 289],
        [500, 289],
        [500, 302],
      ],
      labelAt: [427, 284],
      anchor: 'start',
    },
    {
      from: 'deferred',
      to: 'failed',
      label: 'rejected, timed out, left',
      points: [
        [608, 244],
        [608, 262],
        [364, 262],
        [364, 302],
      ],
      labelAt: [600, 257],
      anchor: 'end',
    },
    {
      from: 'deferred',
      to: 'canceled',
      label: 'canceled',
      points: [
        [668, 244],
        [668, 319],
        [566, 319],
      ],
      labelAt: [661, 312],
      anchor: 'end',
    },
    {
      from: 'submitted',
      to: 'failed',
      label: 'message denied',
      points: [
        [56, 94],
        [56, 360],
        [346, 360],
        [346, 336],
      ],
      labelAt: [64, 353],
      anchor: 'start',
    },
  ],
  undrawn: [
    {
      from: 'working.executing.calling.starting',
      to: 'working.executing.minting',
      because: 'only a call that a restart repeats gets credentials a second time',
    },
  ],
};
