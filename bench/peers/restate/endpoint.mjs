import { once } from 'node:events';
import { createServer } from 'node:http2';
import { join } from 'node:path';
import * as restate from '@restatedev/restate-sdk';
import { connect } from '@restatedev/restate-sdk-clients';
import { keptPort } from '../free-port.ts';

/** Serves a workflow to a server of Restate, and returns its runs by id and a way to call the server's admin API. */
export async function serveWorkflow(workflow, { directory, server }) {
  const port = await keptPort(join(directory, 'port'));
  const handler = restate.createEndpointHandler({ services: [workflow], logger: () => undefined });
  // Not `serve`, which listens for everybody.
  await once(createServer(handler).listen(port, '127.0.0.1'), 'listening');
  const admin = async (method, path, content) => {
    const headers = { 'content-type': 'application/json', accept: 'application/json' };
    const body = content && JSON.stringify(content);
    const answer = await fetch(`http://${server.admin}${path}`, { method, headers, body });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${path}: ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  };
  await admin('POST', '/deployments', { uri: `http://127.0.0.1:${port}` });
  const ingress = connect({ url: `http://${server.ingress}` });
  return { admin, runOf: (id) => ingress.workflowClient(workflow, id) };
}
