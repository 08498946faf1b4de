// TODO (about 10 lines): for each tile along k: fetch it, add TILE products of it to a sum; at the
// end C[i, j].
// Hint: the block needs two barriers a tile. What can go wrong between the last fetch and the
// first product? And between the last product and the next fetch? C may end in the middle of this
// block.
