/** A task as a row of a list. */
export interface TaskRowJson {
  id: string;
  context_id: string;
  /** `submitted`, `working`, `deferred`, `completed`, `failed` or `canceled`. */
  state: string;
  /** Text of the task's status. */
  text: string;
  /** First 120 characters of the request. */
  title: string;
  requester: string | null;
  created_at: string;
  changed_at: string;
  /** Tool of the pending deferral. */
  tool?: string;
  workflow?: {
    workflow_id?: string;
    workflow_execution_id?: string;
    stage_id?: string;
    step_id?: string;
  };
}

/** Response of `GET /api/agents/{id}/tasks?state=&tool=&workflow_execution_id=&limit=&cursor=`. */
export interface TaskListJson {
  tasks: TaskRowJson[];
  next_cursor?: string;
}
