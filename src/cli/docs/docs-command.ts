import { Command } from 'commander';
import { portValue } from '../option-values.ts';
import type { Session } from '../session.ts';
import type { DocsOptions } from './docs.ts';

/** Defines `docs`: lists, prints, searches and serves the documentation of the package. */
export function docsCommand(session: Session): Command {
  return new Command('docs')
    .description('read the documentation of this release, without a network')
    .argument('[page]', 'a page, such as gate or governance#defer, or the code of an error')
    .option('--search <words...>', 'list the sections that contain all of these words')
    .option('--open', 'show it in the browser; Ctrl-C ends it')
    .option('--port <port>', 'port of --open (default: any that is free)', portValue)
    .action(async (page: string | undefined, options: DocsOptions) => {
      const { docs } = await import('./docs.ts');
      await docs(session, page, options);
    });
}
