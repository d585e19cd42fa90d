import { askCluster } from './cluster.mjs';
import { run } from './run.mjs';

await run(async ({ namespace, deployment, reason }) => {
  const restartedAt = new Date().toISOString();
  const annotations = {
    'kubectl.kubernetes.io/restartedAt': restartedAt,
    'holdpoint/restart-reason': reason,
  };
  const answer = await askCluster(
    `/apis/apps/v1/namespaces/${namespace}/deployments/${deployment}`,
    {
      ...{ method: 'PATCH', type: 'application/strategic-merge-patch+json' },
      json: { spec: { template: { metadata: { annotations } } } },
    },
  );
  const { name, generation } = answer.metadata ?? {};
  return { deployment: name, namespace, generation, restarted_at: restartedAt };
});
