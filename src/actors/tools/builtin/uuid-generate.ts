import { v4, v7 } from 'uuid';
import type { Tool } from '../../ports/tool.ts';
import { type BuiltinDependencies, builtinTool } from './builtin-tool.ts';

/** Generates a UUID: random (version 4), or sortable by time (version 7). */
export function uuidGenerate({ clock }: Pick<BuiltinDependencies, 'clock'>): Tool {
  return builtinTool({
    name: 'uuid_generate',
    description: 'Makes a new UUID.',
    parameters: {
      type: 'object',
      properties: {
        version: { enum: [4, 7], description: '4 is random, 7 sorts by time; 4 if omitted' },
      },
      additionalProperties: false,
    },
    idempotent: true,
    async run(args) {
      return args['version'] === 7 ? v7({ msecs: clock.now() }) : v4();
    },
  });
}
