import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { ServiceConfig } from '../../actors/config/config.ts';
import type { PushNotifications } from '../../actors/outbound/outbound.ts';
import type { TaskStore } from '../../actors/records/records.ts';
import { GateTools, type Toolbox } from '../../actors/tools/tools.ts';
import type { DaemonFigures } from '../../http/metrics/metrics-ports.ts';
import { version } from '../../version.ts';
import type { PolicyFigures } from '../policy/policy-reload.ts';

export interface DaemonParts {
  config: Pick<ServiceConfig, 'agent_id'>;
  /** Absolute path of the agent's folder. */
  directory: string;
  audit: { store: Pick<TaskStore, 'isWritable' | 'onCommit'> };
  toolbox: Pick<Toolbox, 'tools'>;
  push: Pick<PushNotifications, 'figures'>;
  policyFigures: () => PolicyFigures;
}

/** Returns what the metrics read of a daemon. */
export function daemonFigures({
  config,
  directory,
  audit: { store },
  toolbox: { tools },
  push,
  policyFigures,
}: DaemonParts): DaemonFigures {
  const state = join(directory, '.service');
  return {
    version,
    agent: config.agent_id,
    isWritable: () => store.isWritable(),
    async disk() {
      const { bavail, blocks, bsize } = await statfs(state);
      return { available: bavail * bsize, size: blocks * bsize };
    },
    policy: policyFigures,
    push: () => push.figures(),
    listedTool(tool) {
      if (tools instanceof GateTools) return tools.listedAs(tool);
      return tools.has(tool) ? tool : null;
    },
    onCommit(listener) {
      store.onCommit = listener;
    },
  };
}
