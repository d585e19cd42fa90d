import type { PushNotification } from '../../actors/ports/push.ts';
import type { AnswerPlace, Task } from '../../machines/domain/task.ts';
import { CoreTasks } from './core-task.ts';
import { loadSdk } from './sdk.ts';

/** Serialises a task as a push notification of an A2A version, as the SDK does (docs/contract/a2a.md). */
export async function writePush(
  task: Task,
  version: string,
  answer: AnswerPlace,
): Promise<PushNotification> {
  const sdk = await loadSdk();
  const value = new CoreTasks(sdk, answer).task(task);
  const writer =
    version === '1.0'
      ? new sdk.V1PushNotificationSerializer()
      : new sdk.V03PushNotificationSerializer();
  return writer.serialize({ payload: { $case: 'task', value } }, value);
}
