// The A2A SDK's own server with an agent that completes at once: the daemon is compared with it.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AgentCard, Role, TaskState } from '@a2a-js/sdk';
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  InMemoryTaskStore,
} from '@a2a-js/sdk/server';
import { jsonRpcHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import express from 'express';

const card = AgentCard.fromJSON({
  name: 'peer',
  description: '',
  version: '1.0.0',
  capabilities: { streaming: true },
  supportedInterfaces: ['1.0', '0.3'].map((protocolVersion) => ({
    url: 'http://127.0.0.1',
    protocolBinding: 'JSONRPC',
    protocolVersion,
  })),
});

const agent: AgentExecutor = {
  async execute({ taskId, contextId, userMessage }, bus) {
    const parts = [
      {
        content: { $case: 'text' as const, value: 'echo: hello' },
        metadata: undefined,
        filename: '',
        mediaType: '',
      },
    ];
    const message = {
      messageId: `${taskId}:answer`,
      contextId,
      taskId,
      role: Role.ROLE_AGENT,
      parts,
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    };
    const artifact = {
      artifactId: `${taskId}:response`,
      name: 'response',
      description: '',
      parts,
      metadata: undefined,
      extensions: [],
    };
    const status = {
      state: TaskState.TASK_STATE_COMPLETED,
      message,
      timestamp: new Date().toISOString(),
    };
    const history = [userMessage, message];
    bus.publish(
      AgentEvent.task({
        id: taskId,
        contextId,
        status,
        artifacts: [artifact],
        history,
        metadata: undefined,
      }),
    );
    bus.finished();
  },
  async cancelTask() {},
};

const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), agent);
const app = express();
app.use(
  jsonRpcHandler({
    requestHandler,
    userBuilder: UserBuilder.noAuthentication,
    legacyCompat: { enabled: true },
  }),
);
const server = createServer(app as never);
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  console.log(JSON.stringify({ url: `http://127.0.0.1:${port}` }));
});
process.once('SIGTERM', () => process.exit(0));
