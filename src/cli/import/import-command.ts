import { Command } from 'commander';
import { addValue } from '../option-values.ts';
import type { Session } from '../session.ts';
import type { ImportOptions } from './import.ts';

export function importCommand(session: Session): Command {
  return new Command('import')
    .description('make an agent from a forge.yaml, MCP settings or a folder of skills')
    .argument('<path>', 'the file, or its folder')
    .option('--dir <dir>', 'the folder of the new agent (default: its name)')
    .option('--name <name>', 'the name of the agent')
    .option('--without <key>', 'omit a key that cannot be kept; may be repeated', addValue)
    .option('--gateway', 'make a gateway to the MCP servers, without a model')
    .option('--preview', 'show the outcome of each key without writing')
    .option('--yes', 'ask nothing')
    .action(async (path: string, options: ImportOptions) => {
      const { importAgent } = await import('./import.ts');
      await importAgent(session, path, options);
    });
}
