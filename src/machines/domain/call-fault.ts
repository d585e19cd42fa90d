/**
 * The fault of a model call. `busy`, `late`, `broken` and `unreachable` are transient (429, 408, 5xx, network).
 * `refused` and `unusable` are not, and no other model is called instead (docs/contract/models.md).
 */
export type CallFault = 'busy' | 'late' | 'broken' | 'unreachable' | 'refused' | 'unusable';
