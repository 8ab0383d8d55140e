/** The text before and after the JSON of a path, without its quotes, in the JSON of a planned file up to its time. */
export const BEFORE = ',{"path":"';
export const AFTER = '","time_execution":';
