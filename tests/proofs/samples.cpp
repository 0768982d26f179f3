#include "tests/proofs/samples.hpp"

namespace spatialcert::tests {

Draft fifo_pipeline() {
  Draft d("fifo-pipeline");
  d.tensor("x", "external", 16).tensor("y", "undefined", 16).fifo("p", 2).fifo("q", 2);
  d.edge("load", "p", "work").edge("work", "q", "store").sum("y", {"x"});
  d.engine("load", {"repeat 4", "reserve p", "run load x[4i:4i+4] > p", "push p", "end"});
  d.engine("compute",
           {"repeat 4", "front p", "reserve q", "run work p > q", "push q", "pop p", "end"});
  d.engine("store", {"repeat 4", "front q", "run store q > y[4i:4i+4]", "pop q", "end"});
  return d;
}

Draft semaphore_handoff() {
  Draft d("semaphore-handoff");
  d.tensor("x", "external", 8)
      .tensor("y", "undefined", 8)
      .buffer("b")
      .semaphore("full")
      .semaphore("empty");
  d.edge("load", "b", "store").sum("y", {"x"});
  d.engine("load",
           {"run load x[0:4] > b", "post full", "wait empty", "run load x[4:8] > b", "post full"});
  d.engine("store", {"wait full", "run store b > y[0:4]", "post empty", "wait full",
                     "run store b > y[4:8]"});
  return d;
}

Draft rendezvous() {
  Draft d("rendezvous");
  d.tensor("x", "external", 12).tensor("y", "undefined", 12).buffer("a").buffer("b").buffer("c");
  d.semaphore("arrived").semaphore("go");
  d.engine("load", {"run first x[0:4] > a", "post arrived", "wait arrived 3", "post go 3",
                    "wait go", "run last b > y[0:4]"});
  d.engine("compute", {"run first x[4:8] > b", "post arrived", "wait go", "run last c > y[4:8]"});
  d.engine("store", {"run first x[8:12] > c", "post arrived", "wait go", "run last a > y[8:12]"});
  d.sum("y[0:4]", {"x[4:8]"}).sum("y[4:8]", {"x[8:12]"}).sum("y[8:12]", {"x[0:4]"});
  return d;
}

Draft double_buffer() {
  Draft d("double-buffer");
  d.tensor("x", "external", 16).tensor("y", "undefined", 16).buffer("even").buffer("odd");
  d.semaphore("full").semaphore("free", 2).sum("y", {"x"});
  d.engine("load", {"wait free", "run load x[0:4] > even", "post full", "wait free",
                    "run load x[4:8] > odd", "post full", "wait free", "run load x[8:12] > even",
                    "post full", "wait free", "run load x[12:16] > odd", "post full"});
  d.engine("store", {"wait full", "run store even > y[0:4]", "post free", "wait full",
                     "run store odd > y[4:8]", "post free", "wait full", "run store even > y[8:12]",
                     "post free", "wait full", "run store odd > y[12:16]", "post free"});
  return d;
}

Draft awaited_flag() {
  Draft d("awaited-flag");
  d.tensor("x", "external")
      .tensor("y", "undefined", 8)
      .buffer("b")
      .semaphore("ready", 0, 15, R"("restart": "reset")");
  d.engine("load", {"run load x > b", "post ready"});
  d.engine("compute", {"await ready 1", "run left b > y[0:4]"});
  d.engine("store", {"await ready 1", "run right b > y[4:8]"});
  d.sum("y[0:4]", {"x"}).sum("y[4:8]", {"x"});
  return d;
}

Draft persistent_pipeline() {
  Draft d("persistent-pipeline");
  d.persistent().tensor("x", "external").tensor("y").fifo("q", 2).edge("load", "q", "store");
  d.engine("load", {"reserve q", "run load x > q", "push q"});
  d.engine("store", {"front q", "run store q > y", "pop q"});
  return d;
}

Draft added_up() {
  Draft d("added-up");
  d.tensor("x0", "external")
      .tensor("x1", "external")
      .tensor("y")
      .fifo("q", 2)
      .buffer("b")
      .semaphore("done");
  d.stage("add", "add").sum("y", {"x0", "x1"});
  d.engine("load",
           {"reserve q", "run load x0 > q", "push q", "reserve q", "run load x1 > q", "push q"});
  d.engine("compute", {"front q 2", "run add q@0 q@1 > b", "pop q 2", "post done"});
  d.engine("store", {"wait done", "run store b > y"});
  return d;
}

std::vector<Draft> all_samples() {
  return {fifo_pipeline(), semaphore_handoff(),   rendezvous(), double_buffer(),
          awaited_flag(),  persistent_pipeline(), added_up()};
}

}  // namespace spatialcert::tests
