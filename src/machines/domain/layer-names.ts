import type { Layer } from './task.ts';

/** The layer names in the configuration, on the wire and in the log. */
export const layerNames: Readonly<Record<Layer, string>> = {
  prompt: 'prompt',
  alignment: 'intent_alignment',
  assurance: 'step_up',
  modify: 'modify',
  defer: 'defer',
  credentials: 'credentials',
  output: 'output',
};
