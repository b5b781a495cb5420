// The runner puts the modules of a build here under build/.
export { default, PassDO, PassEgress } from "./build/index.js";
