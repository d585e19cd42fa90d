import { declareValuePlugin, PluginKind } from '@stryker-mutator/api/plugin';
