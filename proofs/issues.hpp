// Names of transitions, counters and test issues, for reasons in verdicts and rejections.
#pragma once

#include <string>

#include "proofs/subject.hpp"

namespace spatialcert::proofs {

/// `load at chip 0 (2,3) op 14 wait s 1`.
[[nodiscard]] std::string transition_text(const ir::Program& program, const ir::Unrolled& unrolled,
                                          ir::TransitionId t);
/// The same for transition `t` of one iteration of the subject.
[[nodiscard]] std::string transition_text(const Subject& subject, std::uint32_t t);
/// `load at chip 0 (2,3)`.
[[nodiscard]] std::string program_text(const Subject& subject, std::uint32_t program);
/// `semaphore s`, `free pages of fifo kv`, `filled pages of fifo kv`.
[[nodiscard]] std::string counter_text(const ir::Program& program, ir::CounterId counter);
/// What keeps the test out of the marked-graph class.
[[nodiscard]] std::string issue_text(const Subject& subject, const ir::TestIssue& issue);

}  // namespace spatialcert::proofs
