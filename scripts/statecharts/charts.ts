import { admissionMachine } from '../../src/machines/admission/admission-machine.ts';
import { agentProcessMachine } from '../../src/machines/agent-process/agent-process-machine.ts';
import { sinkMachine } from '../../src/machines/audit/sink-machine.ts';
import { cardMachine } from '../../src/machines/card/card-machine.ts';
import { connectionMachine } from '../../src/machines/channels/connection-machine.ts';
import { conversationMachine } from '../../src/machines/channels/conversation-machine.ts';
import { deliveryMachine } from '../../src/machines/channels/delivery-machine.ts';
import { laneMachine } from '../../src/machines/channels/lane-machine.ts';
import { toolCallMachine } from '../../src/machines/governance/tool-call-machine.ts';
import { holdMachine } from '../../src/machines/hold/hold-machine.ts';
import { fallbackMachine } from '../../src/machines/models/fallback-machine.ts';
import { devicePushMachine } from '../../src/machines/push/device-push-machine.ts';
import { pushDeliveryMachine } from '../../src/machines/push/push-delivery-machine.ts';
import { registryMachine } from '../../src/machines/registry/registry-machine.ts';
import { signInMachine } from '../../src/machines/sign-in/sign-in-machine.ts';
import { builderTurnMachine } from '../../src/machines/skill-builder/builder-turn-machine.ts';
import { taskMachine } from '../../src/machines/task/task-machine.ts';
import { wizardMachine } from '../../src/machines/wizard/wizard-machine.ts';
import type { Chart } from './page.ts';

/** Every chart that has a page, in the order of the index. */
export const charts: Chart[] = [
  { name: 'task', source: 'src/machines/task/task-machine.ts', machine: taskMachine },
  { name: 'hold', source: 'src/machines/hold/hold-machine.ts', machine: holdMachine },
  {
    name: 'tool-call',
    source: 'src/machines/governance/tool-call-machine.ts',
    machine: toolCallMachine,
  },
  {
    name: 'fallback',
    source: 'src/machines/models/fallback-machine.ts',
    machine: fallbackMachine,
  },
  {
    name: 'registry',
    source: 'src/machines/registry/registry-machine.ts',
    machine: registryMachine,
  },
  {
    name: 'admission',
    source: 'src/machines/admission/admission-machine.ts',
    machine: admissionMachine,
  },
  {
    name: 'audit-sink',
    source: 'src/machines/audit/sink-machine.ts',
    machine: sinkMachine,
  },
  { name: 'card', source: 'src/machines/card/card-machine.ts', machine: cardMachine },
  {
    name: 'sign-in',
    source: 'src/machines/sign-in/sign-in-machine.ts',
    machine: signInMachine,
  },
  { name: 'wizard', source: 'src/machines/wizard/wizard-machine.ts', machine: wizardMachine },
  {
    name: 'agent-process',
    source: 'src/machines/agent-process/agent-process-machine.ts',
    machine: agentProcessMachine,
  },
  {
    name: 'push-delivery',
    source: 'src/machines/push/push-delivery-machine.ts',
    machine: pushDeliveryMachine,
  },
  {
    name: 'device-push',
    source: 'src/machines/push/device-push-machine.ts',
    machine: devicePushMachine,
  },
  {
    name: 'approval-delivery',
    source: 'src/machines/channels/delivery-machine.ts',
    machine: deliveryMachine,
  },
  {
    name: 'approval-lane',
    source: 'src/machines/channels/lane-machine.ts',
    machine: laneMachine,
  },
  {
    name: 'connection',
    source: 'src/machines/channels/connection-machine.ts',
    machine: connectionMachine,
  },
  {
    name: 'conversation',
    source: 'src/machines/channels/conversation-machine.ts',
    machine: conversationMachine,
  },
  {
    name: 'builder-turn',
    source: 'src/machines/skill-builder/builder-turn-machine.ts',
    machine: builderTurnMachine,
  },
];
