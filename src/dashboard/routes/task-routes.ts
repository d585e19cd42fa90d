import type Router from '@koa/router';
import { readJson } from '../../http/middleware/read-json.ts';
import type { RequestState } from '../../http/request-state.ts';
import type { DashboardPorts } from './dashboard-ports.ts';
import { listGrants, revokeGrant } from './tasks/grants.ts';
import { inspectTask } from './tasks/inspect-task.ts';
import { listLimits, listOutcomes, settleOutcome } from './tasks/limits.ts';
import { listDecided } from './tasks/list-decided.ts';
import { listHeldCalls } from './tasks/list-held-calls.ts';
import { listTasks } from './tasks/list-tasks.ts';
import { decideEach, orderTask } from './tasks/order-task.ts';
import { receiptOfCall } from './tasks/receipt-of-call.ts';
import { showOverview } from './tasks/show-overview.ts';
import { showTask } from './tasks/show-task.ts';

/** Adds the routes for tasks, their waiting calls, and decisions on these calls. */
export function addTaskRoutes(router: Router<RequestState>, ports: DashboardPorts): void {
  router.get('/api/agents/:id/tasks', listTasks(ports));
  router.get('/api/agents/:id/tasks/:tid/inspection', inspectTask(ports));
  router.get('/api/agents/:id/tasks/:tid/calls/:call/receipt', receiptOfCall(ports));
  router.get('/api/agents/:id/tasks/:tid', showTask(ports));
  router.get('/api/deferrals', listHeldCalls(ports));
  router.get('/api/deferrals/decided', listDecided(ports));
  router.get('/api/agents/:id/limits', listLimits(ports));
  router.get('/api/outcomes', listOutcomes(ports));
  router.post('/api/agents/:id/outcomes', readJson(), settleOutcome(ports));
  router.get('/api/overview', showOverview(ports));
  router.get('/api/grants', listGrants(ports));
  router.post('/api/agents/:id/grants/:grant/revoke', readJson(), revokeGrant(ports));
  router.post('/api/agents/:id/tasks/:tid/decisions', readJson(), orderTask('decisions', ports));
  router.post('/api/agents/:id/deferrals/decisions', readJson(), decideEach(ports));
  router.post('/api/agents/:id/tasks/:tid/cancel', readJson(), orderTask('cancel', ports));
}
