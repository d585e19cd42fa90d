import { declareValuePlugin, PluginKind } from '@stryker-mutator/api/plugin';

/** Descriptions of charts and their ids are read by people; the drawn charts are compared with them elsewhere. */
const isWords = /^(?:description|id)$/;

export const strykerPlugins = [
  declareValuePlugin(PluginKind.Ignore, 'chart-words', {
    shouldIgnore({ node }: { node?: any }) {
      return node.type === 'ObjectProperty' && isWords.test(node.key.name ?? '')
        ? 'words for people'
        : undefined;
    },
  }),
];
