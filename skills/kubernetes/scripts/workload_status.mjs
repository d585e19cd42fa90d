import { askCluster } from './cluster.mjs';
import { run } from './run.mjs';

await run(async ({ namespace = 'default' }) => {
  const deployments = await askCluster(
    `/apis/apps/v1/namespaces/${namespace}/deployments?limit=200`,
  );
  const pods = await askCluster(`/api/v1/namespaces/${namespace}/pods?limit=500`);
  const unwell = (pods.items ?? []).map(asPod).filter((pod) => pod !== null);
  return {
    namespace,
    deployments: (deployments.items ?? []).map(asDeployment),
    pods: { total: (pods.items ?? []).length, unwell: unwell.slice(0, 50) },
    more: [deployments, pods].some(({ metadata }) => Boolean(metadata?.continue)),
  };
});

function asDeployment({ metadata, spec, status }) {
  const wanted = spec?.replicas ?? 1;
  const ready = status?.readyReplicas ?? 0;
  const containers = spec?.template?.spec?.containers ?? [];
  return {
    ...{ name: metadata?.name, ready: `${ready}/${wanted}`, healthy: ready >= wanted },
    images: containers.map(({ image }) => image),
  };
}

/** What is wrong with a pod; `null` when nothing is. */
function asPod({ metadata, status }) {
  const containers = status?.containerStatuses ?? [];
  const waiting = containers.map(({ state }) => state?.waiting?.reason).find(Boolean);
  const restarts = containers.reduce((sum, { restartCount = 0 }) => sum + restartCount, 0);
  const isWell =
    status?.phase === 'Succeeded' ||
    (status?.phase === 'Running' && containers.every(({ ready }) => ready));
  if (isWell) return null;
  return {
    name: metadata?.name,
    phase: status?.phase,
    reason: waiting ?? status?.reason,
    restarts,
  };
}
