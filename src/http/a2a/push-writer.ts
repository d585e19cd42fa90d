import type { PushNotification } from '../../actors/ports.ts';
import type { AnswerPlace, Task } from '../../machines/task/task.ts';
import { CoreTasks } from './core-task.ts';
import { loadSdk } from './sdk.ts';

/** Puts a task into a push notification of a version of A2A, as the SDK writes it (docs/contract/a2a.md). */
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
