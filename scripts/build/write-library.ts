import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { writeTypes } from './write-types.ts';

const root = join(import.meta.dirname, '../..');

/** The adapters of the client for frameworks of agents. */
const adapters = ['ai-sdk', 'langchain', 'mastra', 'openai-agents'];

/** The faces of the public modules, as paths from `src`. */
const faces = [
  'client/client.ts',
  ...adapters.map((name) => `client/adapters/${name}.ts`),
  'machines/machines.ts',
  'testing/arbitraries.ts',
  'testing/holds/holds.ts',
  'testing/testing.ts',
];

/** What whoever imports the modules has beside them. */
const peers = ['fast-check', 'xstate'];

/**
 * Writes the modules for other programs, the charts, the client of a gate, the arbitraries and the checks of holds, and the types of all
 * public modules. Returns the modules that went in, by path. XState is a peer of the charts: an actor of one copy of it does not run in a system of another.
 */
export async function writeLibrary(folder: string): Promise<string[]> {
  const input = {
    machines: join(root, 'src/machines/machines.ts'),
    arbitraries: join(root, 'src/testing/arbitraries.ts'),
    'testing/holds': join(root, 'src/testing/holds/holds.ts'),
    client: join(root, 'src/client/client.ts'),
    ...Object.fromEntries(
      adapters.map((name) => [`client/${name}`, join(root, `src/client/adapters/${name}.ts`)]),
    ),
  };
  const bundle = await rolldown({ cwd: root, input, platform: 'neutral', external: peers });
  try {
    const { output } = await bundle.write({
      ...{ dir: folder, format: 'esm', entryFileNames: '[name].js' },
    });
    writeTypes(join(folder, 'types'), faces);
    return output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
  } finally {
    await bundle.close();
  }
}
