import type { Drawing } from './drawing.ts';

const step = [116, 46] as const;
const end: [number, number] = [100, 34];

/** The task: work on the left, the wait for a person on the right, the three ends below. */
export const taskDrawing: Drawing = {
  size: { width: 756, height: 434 },
  places: {
    submitted: { at: [12, 48], size: [88, 46] },
    working: { at: [128, 12], size: [344, 292] },
    'working.accepting': { at: [144, 48], size: [...step] },
    'working.thinking': { at: [144, 108], size: [...step] },
    'working.governing': { at: [344, 48], size: [112, 106] },
    'working.executing': { at: [144, 200], size: [312, 90] },
    'working.executing.minting': { at: [156, 230], size: [88, 46], name: 'credentials' },
    'working.executing.calling': { at: [260, 230], size: [80, 46], name: 'running' },
    'working.executing.recording': { at: [356, 230], size: [88, 46] },
    deferred: { at: [570, 12], size: [174, 292] },
    'deferred.asked': { at: [584, 48], size: [140, 46] },
    'deferred.reminded': { at: [584, 116], size: [140, 42] },
    'deferred.escalated': { at: [584, 180], size: [140, 42] },
    completed: { at: [118, 362], size: end },
    failed: { at: [296, 362], size: end },
    canceled: { at: [466, 362], size: end },
  },
  lines: [
    {
      from: 'submitted',
      to: 'working',
      points: [
        [78, 94],
        [78, 131],
        [144, 131],
      ],
    },
    {
      from: 'submitted',
      to: 'working.accepting',
      points: [
        [100, 71],
        [144, 71],
      ],
    },
    {
      from: 'working.accepting',
      to: 'working.governing',
      label: 'accepted',
      points: [
        [260, 71],
        [344, 71],
      ],
      labelAt: [302, 63],
    },
    {
      from: 'working.thinking',
      to: 'working.governing',
      label: 'wants a tool',
      points: [
        [260, 131],
        [344, 131],
      ],
      labelAt: [302, 123],
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
        [358, 154],
        [358, 200],
      ],
      labelAt: [351, 181],
      anchor: 'end',
    },
    {
      from: 'working.governing',
      to: 'working.executing.recording',
      points: [
        [440, 154],
        [440, 230],
      ],
    },
    {
      from: 'working.governing',
      to: 'completed',
      points: [
        [344, 144],
        [330, 144],
        [330, 169],
        [108, 169],
        [108, 379],
        [118, 379],
      ],
      label: 'granted',
      labelAt: [101, 326],
      anchor: 'end',
    },
    {
      from: 'working.executing.minting',
      to: 'working.executing.calling',
      points: [
        [244, 253],
        [260, 253],
      ],
    },
    {
      from: 'working.executing.calling',
      to: 'working.executing.recording',
      points: [
        [340, 253],
        [356, 253],
      ],
    },
    {
      from: 'working.executing',
      to: 'working.thinking',
      label: 'next turn',
      points: [
        [202, 200],
        [202, 154],
      ],
      labelAt: [209, 181],
      anchor: 'start',
    },
    {
      from: 'working.executing',
      to: 'working.governing',
      label: 'next call',
      points: [
        [380, 200],
        [380, 154],
      ],
      labelAt: [387, 181],
      anchor: 'start',
    },
    {
      from: 'deferred',
      to: 'working.governing',
      label: 'ruled again',
      points: [
        [570, 84],
        [456, 84],
      ],
      labelAt: [513, 98],
    },
    {
      from: 'deferred',
      to: 'working.executing',
      label: 'approved',
      points: [
        [570, 224],
        [456, 224],
      ],
      labelAt: [513, 216],
    },
    {
      from: 'deferred',
      to: 'working.executing.recording',
      label: 'denied, told',
      points: [
        [570, 266],
        [444, 266],
      ],
      labelAt: [521, 280],
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
        [168, 304],
        [168, 362],
      ],
      labelAt: [161, 326],
      anchor: 'end',
    },
    {
      from: 'working.executing',
      to: 'completed',
      label: 'no model',
      points: [
        [200, 290],
        [200, 362],
      ],
      labelAt: [207, 350],
      anchor: 'start',
    },
    {
      from: 'working',
      to: 'failed',
      label: 'denied, failed',
      points: [
        [332, 304],
        [332, 362],
      ],
      labelAt: [325, 326],
      anchor: 'end',
    },
    {
      from: 'working',
      to: 'canceled',
      label: 'canceled',
      points: [
        [420, 304],
        [420, 349],
        [500, 349],
        [500, 362],
      ],
      labelAt: [427, 344],
      anchor: 'start',
    },
    {
      from: 'deferred',
      to: 'failed',
      label: 'rejected, timed out, left',
      points: [
        [608, 304],
        [608, 322],
        [364, 322],
        [364, 362],
      ],
      labelAt: [600, 317],
      anchor: 'end',
    },
    {
      from: 'deferred',
      to: 'canceled',
      label: 'canceled',
      points: [
        [668, 304],
        [668, 379],
        [566, 379],
      ],
      labelAt: [661, 372],
      anchor: 'end',
    },
    {
      from: 'submitted',
      to: 'failed',
      label: 'message denied',
      points: [
        [34, 94],
        [34, 420],
        [346, 420],
        [346, 396],
      ],
      labelAt: [42, 413],
      anchor: 'start',
    },
  ],
  undrawn: [
    {
      from: 'working.executing.calling.starting',
      to: 'working.executing.minting',
      because: 'only a call that a restart repeats gets credentials a second time',
    },
    {
      from: 'deferred',
      to: 'completed',
      because: 'a call that another program runs ends the run like one that governing grants',
    },
  ],
};
