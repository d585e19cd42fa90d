import { declareValuePlugin, PluginKind } from '@stryker-mutator/api/plugin';

/**
 * Descriptions of charts and their ids are read by people, their types by the compiler; the drawn charts are compared
 * with the words elsewhere.
 */
const words = ['description', 'id', 'types'];

/** A place in a source, as far as it is looked at here. */
interface Place {
  node?: { type: string; key?: { name?: string } };
}

export const strykerPlugins = [
  declareValuePlugin(PluginKind.Ignore, 'chart-words', {
    shouldIgnore({ node }: Place) {
      const isWords = node?.type === 'ObjectProperty' && words.includes(node.key?.name ?? '');
      return isWords ? 'nothing that runs' : undefined;
    },
  }),
];
