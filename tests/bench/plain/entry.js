// The runner puts the modules of a build here under build/.
export { default, PlainDO } from "./build/index.js";
